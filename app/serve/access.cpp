#include "app/serve/access.h"

#include <arpa/inet.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

// Takes as long wherever they differ.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return differs == 0;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// "[::1]" of "[::1]:8080"; empty where it is no host with or without a port.
std::string host_part(std::string_view host) {
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == std::string_view::npos) return {};
  const std::size_t colon = std::min(host.find(':', bracket), host.size());
  const std::string_view port = host.substr(std::min(colon + 1, host.size()));
  if (!std::all_of(port.begin(), port.end(), is_digit) || port.size() > 5) return {};
  return lower(host.substr(0, colon));
}

bool is_v4(const std::string& text) {
  in_addr address{};
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1;
}
bool is_v6(const std::string& text) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool is_address(const std::string& host) {
  if (host.starts_with('[') && host.ends_with(']')) return is_v6(host.substr(1, host.size() - 2));
  return is_v4(host);
}

}  // namespace

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

bool Access::is_ours(std::string_view host) const {
  const std::string name = host_part(host);
  return std::find(hosts_.begin(), hosts_.end(), name) != hosts_.end() || (any_address_ && is_address(name));
}

bool Access::has_cookie(std::string_view cookies) const {
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view one = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    const std::size_t equals = one.find('=');
    if (equals != std::string_view::npos && one.substr(0, equals) == name_ && same_secret(one.substr(equals + 1), token_))
      return true;
  }
  return false;
}

Access::Answer Access::check(std::string_view host, std::string_view origin, std::string_view cookie,
                             std::string_view token) const {
  if (!is_ours(host)) return Answer::wrong_host;
  if (!origin.empty() && lower(origin) != "http://" + lower(host)) return Answer::wrong_origin;
  if (has_cookie(cookie)) return Answer::granted;
  return same_secret(token, token_) ? Answer::by_token : Answer::no_token;
}

std::string Access::set_cookie() const { return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", name_, token_); }

bool is_every_address(const std::string& bind) { return bind == "0.0.0.0" || bind == "::"; }
bool is_loopback(const std::string& bind) {
  return bind == "localhost" || bind == "::1" || (is_v4(bind) && bind.starts_with("127."));
}

std::vector<std::string> names_of(const std::string& bind, const std::string& machine) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "[::1]", lower(is_v6(bind) ? "[" + bind + "]" : bind)};
  if (!is_loopback(bind)) names.push_back(lower(machine));
  return names;
}

}  // namespace gapscope
