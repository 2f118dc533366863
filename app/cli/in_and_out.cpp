#include "app/cli/in_and_out.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/session/captured_trace.h"
#include "core/analyze/named_steps.h"
#include "core/base/hidden_character.h"
#include "core/base/text.h"

namespace gapscope {

TraceArguments& trace_arguments() {
  static TraceArguments all;
  return all;
}

LoadOptions load_options() {
  LoadOptions options;
  options.stated = trace_arguments().stated;
  return options;
}

std::shared_ptr<const Trace> load_or_say_why(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    complain(kBadInput,
             path + " is a folder. Ranks of a run are read by gapscope ranks " + path + "; else name a trace in it.");
    return nullptr;
  }
  std::shared_ptr<const Trace> trace = value_or_say_why(load_captured_trace(path, load_options(), trace_arguments().capture));
  if (!trace) return nullptr;
  const std::string trouble = trouble_with_stated_steps(*trace);
  if (trouble.empty()) return trace;
  complain(kBadInput, trouble);
  return nullptr;
}

std::shared_ptr<const Trace> value_or_say_why(const Result<std::shared_ptr<const Trace>>& loaded) {
  if (loaded.ok()) return *loaded;
  complain(kBadInput, loaded.error().message);
  return nullptr;
}

std::string spill_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder && *folder ? folder : "/var/tmp";
}

int complain(int code, const std::string& sentence) {
  std::fprintf(stderr, "gapscope: %s\n", printable(sentence).c_str());
  return code;
}

int print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return kOk;
  return complain(kBadInput, fmt::format("standard output cannot be written: {}.", std::strerror(errno)));
}

std::string aligned_text(const std::vector<std::vector<std::string>>& rows, std::size_t gap,
                         const std::function<bool(std::size_t column)>& at_left) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], utf8_length(row[c]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string space(width[c] - utf8_length(row[c]), ' ');
      line += std::string(c == 0 ? 2 : gap, ' ') + (at_left(c) ? row[c] + space : space + row[c]);
    }
    out += line.erase(line.find_last_not_of(' ') + 1) + '\n';
  }
  return out;
}

nlohmann::ordered_json or_null(const CellValue& value) {
  nlohmann::ordered_json json;
  put_json(value, json);
  return json;
}
nlohmann::ordered_json text_or_null(std::string_view text) { return or_null(text.empty() ? CellValue() : CellValue(text)); }

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  const std::string text = json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const FirstCharacter first = first_character(rest);
    if (!first.is_hidden || first.code == '\n')  // dump() has escaped those of the strings
      out += rest.substr(0, first.bytes);
    else if (first.code < 0x10000)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", first.code);
    else
      fmt::format_to(std::back_inserter(out), "\\u{:04x}\\u{:04x}", 0xD7C0 + (first.code >> 10), 0xDC00 + (first.code & 0x3FF));
    rest.remove_prefix(first.bytes);
  }
  return out;
}

}  // namespace gapscope
