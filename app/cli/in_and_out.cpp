#include "app/cli/in_and_out.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/session/captured_trace.h"
#include "core/base/hidden_character.h"
#include "core/base/text.h"

namespace gapscope {

std::string& named_capture() {
  static std::string file;
  return file;
}

std::shared_ptr<const Trace> load_or_say_why(const std::string& path) {
  return value_or_say_why(load_captured_trace(path, {}, named_capture()));
}

std::shared_ptr<const Trace> value_or_say_why(const Result<std::shared_ptr<const Trace>>& loaded) {
  if (loaded.ok()) return *loaded;
  std::fprintf(stderr, "gapscope: %s\n", printable(loaded.error().message).c_str());
  return nullptr;
}

int print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return kOk;
  std::fprintf(stderr, "gapscope: standard output cannot be written: %s.\n", std::strerror(errno));
  return kBadInput;
}

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  const std::string text = json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const HiddenCharacter hidden = hidden_character(std::string_view(text).substr(i));
    if (hidden.bytes == 0 || text[i] == '\n') {  // dump() has escaped those of the strings
      out += text[i];
      continue;
    }
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", hidden.code);
    i += hidden.bytes - 1;
  }
  return out;
}

}  // namespace gapscope
