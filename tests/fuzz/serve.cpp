// Any bytes as what a browser says to `gapscope serve`: of a head only what may be seen is left, and no Range hides in it, also
// where lines are distinguished by bare line feeds; an address means the same when it is written anew; a range is in its
// file; and without the secret no client is let in.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "app/serve/access.h"
#include "app/serve/address.h"
#include "app/serve/byte_range.h"
#include "app/serve/request_head.h"

namespace {

using namespace gapscope;

void demand(bool holds) {
  if (!holds) std::abort();
}

// The library takes the name of a line to end at its first colon or blank, whatever is before: no second host is seen then.
std::size_t hosts_in(std::string_view head) {
  std::size_t hosts = 0;
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = std::min(head.find('\n', at), head.size());
    std::string name;
    for (const char c : head.substr(at, end - at)) {
      if (c == ':') break;
      if (c != ' ' && c != '\t' && c != '\r') name += static_cast<char>(c | 0x20);
    }
    hosts += at > 0 && name == "host" ? 1 : 0;
    at = end + 1;
  }
  return hosts;
}

bool begins_with_range(std::string_view line) {
  constexpr std::string_view kName = "range:";
  return line.size() >= kName.size() &&
         std::equal(kName.begin(), kName.end(), line.begin(), [](char a, char b) { return a == b || a == (b | 0x20); });
}

RequestHead check_head(std::string_view text) {
  RequestHead head = prepared_head(text);
  const RequestHead again = prepared_head(head.text);
  demand(again.text == head.text && again.range.empty() && again.hosts == head.hosts && again.has_body == head.has_body);
  demand(head.text.size() <= text.size() + 2);
  if (!head.is_plain) return head;
  demand(hosts_in(head.text) <= head.hosts && (head.hosts > 0 || head.host.empty()));
  for (const std::string* value : {&head.host, &head.origin, &head.cookie, &head.range})
    demand(value->find_first_of(std::string_view("\0\r\n", 3)) == std::string::npos);
  // As it came, and letter by letter: what is checked is what is there.
  if (head.hosts == 1) demand(head.host.empty() || text.find(head.host) != std::string_view::npos);
  for (std::size_t at = 0; at < head.text.size();) {
    const std::size_t end = std::min(head.text.find('\n', at), head.text.size());
    demand(!begins_with_range(std::string_view(head.text).substr(at, end - at)));
    at = end + 1;
  }
  return head;
}

void check_address(std::string_view target) {
  const auto address = parse_address(target);
  if (!address) return;
  demand(address->path.starts_with('/') && !address->path.starts_with("//") && address->path.find('\0') == std::string::npos);
  std::string anew = address_text(address->path);
  char before = '?';
  for (const auto& [name, value] : address->values) {
    anew += before + address_text(name) + '=' + address_text(value);
    before = '&';
  }
  const auto back = parse_address(anew);
  demand(back && back->path == address->path && back->values == address->values);
}

void check_range(std::string_view header) {
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{10}, ~std::uint64_t{0}}) {
    const ByteRange range = byte_range(header, size);
    if (range.kind == ByteRange::Kind::part) demand(range.bytes > 0 && range.first < size && range.bytes <= size - range.first);
    if (range.kind != ByteRange::Kind::part) demand(range.bytes == 0);
  }
}

// None of 64 digits comes from a fuzzer by chance.
void check_access(std::string_view text) {
  static const std::string secret = random_token() + random_token();
  static const Access access(secret, "name", names_of("127.0.0.1", "machine"), true);
  for (const std::string_view host : {std::string_view("localhost:1"), text}) {
    const auto answer = access.check(host, {}, text, text);
    demand(answer == Access::Answer::no_token || answer == Access::Answer::wrong_host);
  }
  demand(access.check("localhost:1", text, {}, secret) ==
             (text.empty() ? Access::Answer::by_token : Access::Answer::wrong_origin) ||
         text.size() == std::string_view("http://localhost:1").size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t bytes = head_bytes(text);
  demand(bytes == std::string_view::npos || text.substr(0, bytes).ends_with("\r\n\r\n"));
  const RequestHead head = check_head(text.substr(0, bytes));
  check_range(head.range);
  check_range(text);
  const std::size_t begin = std::min(text.find(' ') + 1, text.size());
  check_address(text.substr(begin, text.find(' ', begin) - begin));
  check_address(text);
  check_access(text);
  return 0;
}
