// SPDX-License-Identifier: Apache-2.0
// The style and the script of the page that `tilehash report` writes.
#pragma once

namespace tilehash::app {

inline constexpr const char* report_head = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>tilehash: the documents' tables and figures</title>
<style>
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#f3f4f6;--line:#d5d9de;--dim:#59636e;
--agrees:#116329;--differs:#953800;--measured:#0550ae;--not:#59636e;
--c0:#0550ae;--c1:#bc4c00;--c2:#116329;--c3:#8250df;--c4:#a40e26;--c5:#4d7a86;--c6:#7d4e00;--c7:#57606a}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ec;--paper:#14171a;--soft:#1f242a;--line:#3a424b;--dim:#9aa4ae;
--agrees:#5bd17a;--differs:#f0883e;--measured:#79b8ff;--not:#9aa4ae;
--c0:#79b8ff;--c1:#f0883e;--c2:#5bd17a;--c3:#c297ff;--c4:#ff7b72;--c5:#76c7c0;--c6:#d9b44a;--c7:#9aa4ae}}
body{margin:0 auto;max-width:68rem;padding:1rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.6rem}h2{margin-top:3rem;border-bottom:1px solid var(--line)}h3{margin:0;font-size:1.05rem}
a{color:var(--measured)}section{margin:1.5rem 0;padding:1rem;border:1px solid var(--line);border-radius:.5rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child,td:nth-child(2){text-align:left}tr.theirs td{color:var(--dim)}
.verdict{display:inline-block;padding:0 .5rem;border:1px solid;border-radius:1rem;font-size:.85rem;font-weight:600}
.agrees{color:var(--agrees)}.differs{color:var(--differs)}.measured{color:var(--measured)}.not,.nothing{color:var(--not)}
.small{font-size:.85rem;color:var(--dim);overflow-wrap:anywhere}p{margin:.5rem 0;overflow-wrap:anywhere}
pre{display:flex;gap:.5rem;align-items:start;margin:.5rem 0;padding:.5rem;background:var(--soft);border-radius:.3rem;
font-size:.8rem}pre code{flex:1;white-space:pre-wrap;overflow-wrap:anywhere}button{font:inherit;cursor:pointer}
.pictures{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;flex:1 1 18rem;max-width:26rem}
figcaption{font-size:.8rem;color:var(--dim)}svg{width:100%;height:auto;background:var(--soft);border-radius:.3rem}
svg text{font-size:11px;fill:var(--dim)}svg .frame{fill:none;stroke:var(--line)}
svg polyline{fill:none;stroke-width:2}svg .t{stroke-dasharray:5 4;stroke-width:1.5}
.k0{stroke:var(--c0);fill:var(--c0)}.k1{stroke:var(--c1);fill:var(--c1)}.k2{stroke:var(--c2);fill:var(--c2)}
.k3{stroke:var(--c3);fill:var(--c3)}.k4{stroke:var(--c4);fill:var(--c4)}.k5{stroke:var(--c5);fill:var(--c5)}
.k6{stroke:var(--c6);fill:var(--c6)}.k7{stroke:var(--c7);fill:var(--c7)}svg circle.t{fill:var(--soft);stroke-dasharray:none}
.key{font-size:.8rem;display:inline-flex;align-items:center;gap:.3rem;margin-right:.8rem}.key svg{width:1.2rem;background:none}
</style></head><body>
)html";

inline constexpr const char* report_foot = R"html(<script>
document.addEventListener('click', e => {
  if (e.target.tagName !== 'BUTTON') return;
  navigator.clipboard.writeText(e.target.previousElementSibling.textContent)
    .then(() => { e.target.textContent = 'copied'; });
});
</script></body></html>
)html";

}  // namespace tilehash::app
