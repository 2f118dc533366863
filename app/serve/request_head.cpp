#include "app/serve/request_head.h"

#include <algorithm>

namespace gapscope {
namespace {

constexpr std::string_view kEnd = "\r\n";

bool is_named(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ':' &&
         std::equal(name.begin(), name.end(), line.begin(),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
}

std::string_view value_of_line(std::string_view line, std::string_view name) {
  line.remove_prefix(name.size() + 1);
  while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
  while (line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
  return line;
}

// A name with the colon directly after it. Other servers read "Host : a" and continued lines differently.
bool has_name(std::string_view line) {
  static constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  const std::string_view name = line.substr(0, line.find(':'));
  return !name.empty() && name.size() < line.size() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || kSigns.find(c) != kSigns.npos;
  });
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; }

}  // namespace

std::size_t head_bytes(std::string_view text) {
  const std::size_t at = text.find("\r\n\r\n");
  return at == std::string_view::npos ? at : at + 4;
}

RequestHead prepared_head(std::string_view text) {
  constexpr std::string_view kRange = "range", kLength = "content-length", kCoding = "transfer-encoding", kHost = "host",
                             kCodings = "accept-encoding", kOrigin = "origin", kCookie = "cookie";
  RequestHead out;
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(kEnd), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + kEnd.size(), text.size()));
    out.is_plain =
        out.is_plain && std::none_of(line.begin(), line.end(), is_control) && (is_first || line.empty() || has_name(line));
    is_first = false;
    if (is_named(line, kRange)) {
      out.range = value_of_line(line, kRange);
      continue;
    }
    if (is_named(line, kCodings)) continue;
    if (is_named(line, kHost)) out.host = value_of_line(line, kHost), ++out.hosts;
    if (is_named(line, kOrigin)) out.is_plain &= out.origin.empty(), out.origin = value_of_line(line, kOrigin);
    if (is_named(line, kCookie)) out.cookie.append(out.cookie.empty() ? "" : "; ").append(value_of_line(line, kCookie));
    out.has_body = out.has_body || is_named(line, kCoding) || (is_named(line, kLength) && value_of_line(line, kLength) != "0");
    out.text.append(line).append(kEnd);
  }
  return out;
}

}  // namespace gapscope
