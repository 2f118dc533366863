#include "core/compare/condition.h"

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
  return Error{
      fmt::format("\"{}\" is no condition: write FIGURE>+CHANGE or FIGURE<-CHANGE with one of {}, and a change in % or, for "
                  "times, in ns, us, ms "
                  "or s: \"gpu_busy>+5%\", \"idle>+50us\", \"launches>+2\".",
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
std::optional<double> amount_of(std::string_view text, bool time, bool& percent) {
  if (text.ends_with('%')) {
    percent = true;
    return plain_number(text.substr(0, text.size() - 1));
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
  out.more = text[at] == '>';
  std::string_view change = std::string_view(text).substr(at + 1);
  const bool minus = change.starts_with('-');
  if (minus || change.starts_with('+')) change.remove_prefix(1);
  const std::optional<double> amount = amount_of(change, is_time(out.figure), out.percent);
  if (!known || !amount) return unreadable(given);
  out.amount = minus ? -*amount : *amount;
  return out;
}

bool holds(const Condition& c, const Comparison& comparison) {
  const auto a = static_cast<double>(comparison.a.of(c.figure).median),
             b = static_cast<double>(comparison.b.of(c.figure).median);
  const double limit = c.percent ? a * c.amount / 100 : c.amount;
  return c.more ? b - a > limit : b - a < limit;
}

}  // namespace gapscope
