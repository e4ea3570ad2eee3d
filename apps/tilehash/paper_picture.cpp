// SPDX-License-Identifier: Apache-2.0
#include "paper_picture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace tilehash::app {
namespace {

using json = nlohmann::ordered_json;

constexpr double image_width = 360, image_height = 220, left_margin = 52, right_margin = 10, top_margin = 10,
                 bottom_margin = 34;
constexpr std::size_t colours = 8, most_panels = 6;

// A scale of the numbers that are drawn: logarithmic where they spread far.
class scale {
 public:
  scale(double from, double to) : from_(from), to_(to) {}

  void take(double value) {
    if (!std::isfinite(value)) return;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  void close(bool starts_at_zero) {
    log_ = least_ > 0 && most_ / least_ > 20;
    if (!log_ && starts_at_zero && least_ < most_ / 3) least_ = std::min(least_, 0.0);
    if (least_ == most_) most_ = least_ + 1;
  }
  bool is_point() const { return !(least_ < most_); }
  double at(double value) const {
    const auto f = [this](double x) { return log_ ? std::log(x) : x; };
    return from_ + (to_ - from_) * (f(value) - f(least_)) / (f(most_) - f(least_));
  }
  std::vector<double> ticks() const {
    std::vector<double> all;
    for (int i = 0; i <= 3; ++i) {
      const double share = i / 3.0;
      all.push_back(log_ ? least_ * std::pow(most_ / least_, share) : least_ + share * (most_ - least_));
    }
    return all;
  }

 private:
  double from_, to_, least_ = std::numeric_limits<double>::infinity(), most_ = -least_;
  bool log_ = false;
};

std::string tick_text(double value) {
  const double size = std::abs(value);
  if (size >= 1e9) return fmt::format("{:.3g}G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (size >= 1e3) return fmt::format("{:.3g}k", value / 1e3);
  return fmt::format("{:.3g}", value);
}

// One picture: where its cells are.
struct panel {
  const paper_entry& entry;
  const paper_cells& cells;
  std::size_t axis, first, step;  // x; the cell of the first series at the first x; from one x to the next

  std::size_t series() const { return std::max<std::size_t>(1, entry.data["series"].size()); }
  std::size_t points() const { return cells.axes[axis].size(); }
  std::size_t cell(std::size_t of_series, std::size_t point) const {
    return of_series * (cells.theirs.size() / series()) + first + point * step;
  }
};

using points = std::vector<std::pair<double, double>>;

points line_of(const panel& the, const std::vector<json>& of, std::size_t series) {
  points all;
  for (std::size_t i = 0; i < the.points(); ++i) {
    const json &x = the.cells.axes[the.axis][i], &y = of[the.cell(series, i)];
    if (x.is_number() && y.is_number()) all.emplace_back(x.get<double>(), y.get<double>());
  }
  std::ranges::sort(all);
  return all;
}

void draw_line(std::string& svg, const points& line, std::size_t series, bool is_theirs, const scale& x,
               const scale& y) {
  if (line.empty()) return;
  const std::string style = fmt::format("k{}{}", series % colours, is_theirs ? " t" : "");
  auto out = std::back_inserter(svg);
  fmt::format_to(out, "<polyline class=\"{}\" style=\"fill:none\" points=\"", style);
  for (const auto& [px, py] : line) fmt::format_to(out, "{:.1f},{:.1f} ", x.at(px), y.at(py));
  svg += "\"/>";
  for (const auto& [px, py] : line)
    fmt::format_to(out, "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", style, x.at(px),
                   y.at(py), is_theirs ? 3.5 : 2.5);
}

std::string draw(const panel& the, const std::vector<json>& ours) {
  scale x(left_margin, image_width - right_margin), y(image_height - bottom_margin, top_margin);
  for (const auto* of : {&the.cells.theirs, &ours}) {
    for (std::size_t s = 0; s < the.series(); ++s) {
      for (const auto& [px, py] : line_of(the, *of, s)) {
        x.take(px);
        y.take(py);
      }
    }
  }
  if (x.is_point()) return {};  // no line
  x.close(false);
  y.close(true);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\"><rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" "
      "height=\"{}\"/>",
      image_width, image_height, left_margin, top_margin, image_width - left_margin - right_margin,
      image_height - top_margin - bottom_margin);
  auto out = std::back_inserter(svg);
  for (const double tick : x.ticks())
    fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                   std::min(x.at(tick), image_width - right_margin - 10), image_height - bottom_margin + 14,
                   tick_text(tick));
  for (const double tick : y.ticks())
    fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", left_margin - 4,
                   y.at(tick) + 4, tick_text(tick));
  fmt::format_to(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                 (left_margin + image_width) / 2, image_height - 4,
                 html_text(the.entry.data["axes"][the.axis]["name"].get<std::string>()));
  for (std::size_t s = 0; s < the.series(); ++s) {
    draw_line(svg, line_of(the, ours, s), s, false, x, y);
    draw_line(svg, line_of(the, the.cells.theirs, s), s, true, x, y);
  }
  return svg + "</svg>";
}

// The axis to be x: the one with the most numbers.
std::optional<std::size_t> axis_of_numbers(const paper_cells& cells) {
  std::optional<std::size_t> best;
  std::ptrdiff_t most = 1;
  for (std::size_t i = 0; i < cells.axes.size(); ++i) {
    const auto numbers =
        std::ranges::count_if(cells.axes[i], [](const json& one) { return one.is_number(); });
    if (numbers > most) {
      most = numbers;
      best = i;
    }
  }
  return best;
}

// The values of the other axes at a cell.
std::string other_axes(const panel& the) {
  std::vector<std::string> words;
  std::size_t rest = the.first;
  for (std::size_t i = the.cells.axes.size(); i > 0; --i) {
    const auto& values = the.cells.axes[i - 1];
    if (i - 1 != the.axis) {
      const json& value = values[rest % values.size()];
      const std::string name =
          value.is_number() ? the.entry.data["axes"][i - 1]["name"].get<std::string>() + " " : "";
      words.insert(words.begin(), name + cell_text(value));
    }
    rest /= values.size();
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string key_of(const paper_entry& entry, bool has_theirs) {
  std::string key = "<p>";
  for (std::size_t s = 0; s < entry.data["series"].size(); ++s) {
    key += fmt::format(
        "<span class=\"key\"><svg viewBox=\"0 0 20 10\"><polyline class=\"k{}\" points=\"0,5 "
        "20,5\"/></svg>{}</span>",
        s % colours, html_text(entry.data["series"][s]["name"].get<std::string>()));
  }
  return key + (has_theirs ? "<span class=\"small\">dashed: the document</span></p>" : "</p>");
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string pictures_of(const paper_entry& entry, const paper_cells& cells,
                        const std::vector<paper_results>& results) {
  const auto axis = axis_of_numbers(cells);
  if (!axis) return {};
  panel the{entry, cells, *axis, 0, 1};
  for (std::size_t i = *axis + 1; i < cells.axes.size(); ++i) the.step *= cells.axes[i].size();
  const std::size_t of_series = cells.theirs.size() / the.series();
  const std::vector<json> none(cells.theirs.size());
  std::string pictures;
  for (std::size_t r = 0; r < std::max<std::size_t>(1, cells.ours.size()); ++r) {
    const auto& ours = r < cells.ours.size() ? cells.ours[r] : none;
    const bool has_ours = std::ranges::any_of(ours, [](const json& one) { return !one.is_null(); });
    if (!has_ours && cells.has_ours()) continue;  // the document's numbers come with another machine's
    std::size_t drawn = 0;
    for (the.first = 0; the.first < of_series && drawn < most_panels; ++the.first) {
      if (the.first / the.step % the.points() != 0) continue;  // not at the first x
      const std::string svg = draw(the, ours);
      if (svg.empty()) continue;
      ++drawn;
      const std::string others = other_axes(the);
      const std::string machine = has_ours ? results[r].machine : "the document";
      pictures += fmt::format("<figure>{}<figcaption>{}{}{}</figcaption></figure>\n", svg, html_text(machine),
                              others.empty() ? "" : ": ", html_text(others));
    }
  }
  if (pictures.empty()) return {};
  return key_of(entry, cells.has_theirs()) + "<div class=\"pictures\">" + pictures + "</div>\n";
}

}  // namespace tilehash::app
