// SPDX-License-Identifier: Apache-2.0
// Search on pages that a browser reads from files, where it refuses web workers: a hidden frame runs the worker's script.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = `<script>
        var IFrameWorker = true;
        var postMessage = data => parent.postMessage(data, "*");
        var importScripts = (...urls) => Promise.all(urls.map(url => new Promise(loaded => {
          const script = document.createElement("script");
          Object.assign(script, { src: url, async: false, onload: loaded });
          document.head.append(script);
        })));
      </script><script src="${url}"></script>`;
      this.ready = new Promise(loaded => this.frame.addEventListener("load", loaded));
      addEventListener("message", event => {
        if (event.source !== this.frame.contentWindow) return;
        const copy = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(copy);
        if (this.onmessage) this.onmessage(copy);
      });
      document.body.append(this.frame);
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
