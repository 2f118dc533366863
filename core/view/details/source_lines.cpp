#include "core/view/details/source_lines.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/view/allowed_sources.h"
#include "core/view/document.h"
#include "core/view/source_place.h"

namespace gapscope {
namespace {

// A frame of the profiler states the line at which its function begins: what matters comes after it.
constexpr std::int64_t kLinesBefore = 2, kLinesAfter = 9;
constexpr std::int64_t kMostDecoratorLines = 40;
constexpr std::size_t kMostSourceBytes = 16 << 20;
constexpr std::size_t kMostLineChars = 400;
constexpr std::size_t kTabWidth = 4;

std::string function_of(std::string_view frame) {
  constexpr std::string_view kBeforeName = "): ";
  const std::size_t at = frame.rfind(kBeforeName);
  return at == frame.npos ? std::string() : std::string(frame.substr(at + kBeforeName.size()));
}

// Of a line that says something; none of an empty one or a comment, whose place means nothing.
std::optional<std::size_t> indentation(std::string_view line) {
  std::size_t width = 0;
  for (const char c : line) {
    if (c == ' ') {
      ++width;
    } else if (c == '\t') {
      width += kTabWidth;
    } else if (c == '#' || c == '\r') {
      return std::nullopt;
    } else {
      return width;
    }
  }
  return std::nullopt;
}

bool defines(std::string_view line, std::string_view function) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.starts_with("async ")) line.remove_prefix(6);
  const bool is_definition = line.starts_with("def ") || line.starts_with("class ");
  if (!is_definition) return false;
  line.remove_prefix(line.find(' ') + 1);
  if (!line.starts_with(function)) return false;
  line.remove_prefix(function.size());
  return line.empty() || line.front() == '(' || line.front() == ':' || line.front() == ' ' || line.front() == '[';
}

std::string shown_line(std::string_view line, std::size_t without) {
  std::string out;
  for (const char c : line) {
    if (c == '\r') continue;
    out += c == '\t' ? std::string(kTabWidth, ' ') : std::string(1, c);
  }
  out = out.substr(std::min(without, out.size()));
  return printable(out.substr(0, kMostLineChars));
}

// The lines up to some after `line`.
std::vector<std::string> lines_of(std::string text_of_file, std::int64_t line, const std::atomic<bool>* cancel) {
  std::istringstream in(std::move(text_of_file));
  std::vector<std::string> lines;
  for (std::string text; static_cast<std::int64_t>(lines.size()) - kMostDecoratorLines < line && std::getline(in, text);) {
    if (cancel && *cancel) break;
    lines.push_back(std::move(text));
  }
  return lines;
}

bool saved_after(const std::string& file, const Trace& trace) {
  if (!trace.header.has_base_time) return false;
  std::error_code failed;
  const auto saved = std::filesystem::last_write_time(file, failed);
  if (failed) return false;
  const auto since_epoch = std::chrono::file_clock::to_sys(saved).time_since_epoch();
  const Ns at = std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
  return at - trace.header.base_time > trace.span.end;
}

void fill_lines(const std::vector<std::string>& all, SourceLines& out) {
  const auto last = std::min(out.line + kLinesAfter, static_cast<std::int64_t>(all.size()));
  out.first = std::max<std::int64_t>(out.line - kLinesBefore, 1);
  std::optional<std::size_t> shared;
  for (std::int64_t l = out.first; l <= last; ++l)
    if (const auto width = indentation(all[static_cast<std::size_t>(l - 1)]))
      shared = std::min(shared.value_or(*width), *width);
  for (std::int64_t l = out.first; l <= last; ++l)
    out.lines.push_back(shown_line(all[static_cast<std::size_t>(l - 1)], shared.value_or(0)));
}

std::string not_shown(const std::string& file, const std::string& to_allow, bool asks) {
  if (!asks)
    return "Lines of " + printable(file) + " are shown where --sources names its folder.";  // whether it is there or not
  if (!to_allow.empty()) return allow_sentence(to_allow);
  return printable(file) + " is not on this machine. Set its folder in View > Editor and sources.";
}

}  // namespace

bool is_in_function(const std::vector<std::string>& lines, std::int64_t line, const std::string& function) {
  if (function.empty() || function.front() == '<') return true;  // <module>, <lambda>, <genexpr>
  const auto count = static_cast<std::int64_t>(lines.size());
  if (line < 1 || line > count) return false;
  const auto text = [&](std::int64_t l) { return std::string_view(lines[static_cast<std::size_t>(l - 1)]); };
  const auto is_decorator = [&](std::int64_t l) {
    const std::size_t at = text(l).find_first_not_of(" \t");
    return at != std::string_view::npos && text(l)[at] == '@';
  };
  if (defines(text(line), function)) return true;
  if (is_decorator(line))  // it and those below, each possibly over several lines
    for (std::int64_t l = line + 1; l <= std::min(line + kMostDecoratorLines, count); ++l)
      if (defines(text(l), function)) return true;
  std::optional<std::size_t> inner = indentation(text(line));
  for (std::int64_t l = line - 1; l >= 1; --l) {
    const std::optional<std::size_t> width = indentation(text(l));
    if (!width || (inner && *width >= *inner)) continue;
    if (defines(text(l), function)) return true;
    inner = width;
  }
  return false;
}

std::shared_ptr<const SourceLines> answer(const Document& document, const SourceLinesQuestion& question,
                                          const std::atomic<bool>* cancel) {
  auto found = std::make_shared<SourceLines>();
  found->frame = question.frame;
  const std::optional<SourcePlace> place = source_place(question.frame);
  if (!place) return found;
  found->line = place->line;
  const bool may_be_shown = question.asks || !question.paths.empty();  // else nothing of that name is so much as looked for
  const std::optional<std::string> here =
      may_be_shown ? source_here(document.trace, place->file, question.paths) : std::nullopt;
  SourceText source = here ? AllowedSources(question.paths).read(*here, kMostSourceBytes) : SourceText();
  if (source.kind == SourceText::Kind::not_allowed) {
    if (here && question.asks) found->to_allow = folder_to_allow(*here);
    found->note = not_shown(place->file, found->to_allow, question.asks);
    return found;
  }
  if (source.kind == SourceText::Kind::no_source || source.is_cut) {
    found->note = printable(*here) + " cannot be read.";
    return found;
  }
  const std::string function = function_of(question.frame);
  const std::vector<std::string> lines = lines_of(std::move(source.text), place->line, cancel);
  if (cancel && *cancel) return nullptr;
  found->file = *here;
  if (place->line > static_cast<std::int64_t>(lines.size())) {
    found->note = fmt::format("The file was changed since it was recorded: it has no line {}.", place->line);
    return found;
  }
  fill_lines(lines, *found);
  if (!is_in_function(lines, place->line, function))
    found->note =
        fmt::format("The file was changed since it was recorded: line {} is not of {}.", place->line, printable(function));
  else if (function.starts_with('<') && saved_after(*here, document.trace))
    found->note = "The file was saved after the recording: its lines may have moved.";
  return found;
}

}  // namespace gapscope
