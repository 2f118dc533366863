#include "core/compare/condition.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/time_text.h"

namespace gapscope {
namespace {

struct Word {
  std::string_view word;
  StepFigure figure;
};
constexpr Word kWords[] = {
    {"cpu", StepFigure::cpu},           {"gpu_time", StepFigure::gpu_time},
    {"gpu_busy", StepFigure::gpu_busy}, {"idle", StepFigure::idle},
    {"gpu_ops", StepFigure::gpu_ops},   {"kernels", StepFigure::kernels},
    {"launches", StepFigure::launches}, {"graph_launches", StepFigure::graph_launches},
    {"copies", StepFigure::copies},
};

std::string without_spaces(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) out += c;
  return out;
}

Error unreadable(std::string_view text) {
  std::string words;
  for (const Word& w : kWords) words += fmt::format("{}{}", words.empty() ? "" : ", ", w.word);
  for (const std::string& key : use_keys()) words += ", " + key;
  for (const std::string_view key : {kPlainStepKey, kPlainShareKey}) words += fmt::format(", {}", key);
  words += ", gain, gain.RULE";
  return Error{fmt::format(
      "\"{}\" is not a condition: write FIGURE>+CHANGE or FIGURE<-CHANGE with one of {}, and a change in %, for times "
      "in ns, us, ms or s, for shares in pp: \"gpu_busy>+5%\", \"idle>+50us\", \"launches>+2\", "
      "\"utilization<-5pp\".",
      printable(text), words)};
}

std::optional<double> plain_number(std::string_view text) {
  double value = 0;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const bool whole = trouble == std::errc() && end == text.data() + text.size() && !text.empty() &&
                     std::isdigit(static_cast<unsigned char>(text[0])) != 0;
  return whole ? std::optional(value) : std::nullopt;
}

// Without its sign.
std::optional<double> amount_of(std::string_view text, bool time, bool is_share, bool& percent) {
  if (text.ends_with('%')) {
    percent = true;
    return plain_number(text.substr(0, text.size() - 1));
  }
  if (is_share) {
    const std::optional<double> points = text.ends_with("pp") ? plain_number(text.substr(0, text.size() - 2)) : std::nullopt;
    return points ? std::optional(*points / 100) : std::nullopt;
  }
  if (!time) return plain_number(text);
  const std::optional<Ns> ns = parse_duration(text);
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
}

}  // namespace

Result<Condition> parse_condition(std::string_view given) {
  const std::string text = without_spaces(given);
  const std::size_t at = text.find_first_of("<>");
  if (at == text.npos) return unreadable(given);
  Condition out;
  bool known = false;
  for (const Word& w : kWords)
    if (w.word == std::string_view(text).substr(0, at)) out.figure = w.figure, known = true;
  for (const std::string& key : use_keys())
    if (!known && key == std::string_view(text).substr(0, at)) out.use = key, known = true;
  // What remedies give is no part of the table: its rows are named by rules, which are not known here.
  const std::string_view key = std::string_view(text).substr(0, at);
  if (!known && (key == "gain" || key.starts_with("gain.") || key == kPlainStepKey || key == kPlainShareKey))
    out.use = key, known = true;
  out.more = text[at] == '>';
  std::string_view change = std::string_view(text).substr(at + 1);
  const bool minus = change.starts_with('-');
  if (minus || change.starts_with('+')) change.remove_prefix(1);
  const bool is_plain = out.use == "memory" || out.use.starts_with("flops"),
             is_step = out.use == "step" || out.use == kPlainStepKey;
  const bool is_share = !out.use.empty() && !is_plain && !is_step;
  const std::optional<double> amount =
      amount_of(change, is_step || (out.use.empty() && is_time(out.figure)), is_share, out.percent);
  if (!known || !amount) return unreadable(given);
  out.amount = minus ? -*amount : *amount;
  return out;
}

bool holds(const Condition& c, const Comparison& comparison, const std::vector<UseRow>& use) {
  auto a = static_cast<double>(comparison.a.of(c.figure).median), b = static_cast<double>(comparison.b.of(c.figure).median);
  if (!c.use.empty()) {
    const auto row = std::find_if(use.begin(), use.end(), [&](const UseRow& r) { return r.key == c.use; });
    if (row == use.end() || !row->a || !row->b) return false;
    a = *row->a, b = *row->b;
  }
  const double limit = c.percent ? a * c.amount / 100 : c.amount;
  return c.more ? b - a > limit : b - a < limit;
}

}  // namespace gapscope
