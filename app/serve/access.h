#pragma once
// Who may ask: a client that has the address that was printed, or the cookie that it gave, and asks this server and no other by
// its name. A page of another site in the same browser has neither, also where its name is made to lead here (DNS rebinding).
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

// Of 32 hexadecimal digits, from the system; empty where it gives none.
std::string random_token();

class Access {
 public:
  enum class Answer { granted, by_token, no_token, wrong_host, wrong_origin };  // by_token: give it the cookie

  // `name`: of the cookie, another one for each server, since browsers do not distinguish ports. `hosts`: names that this
  // server goes by, without ports. `any_address`: also every IP address.
  Access(std::string token, std::string name, std::vector<std::string> hosts, bool any_address)
      : token_(std::move(token)), name_(std::move(name)), hosts_(std::move(hosts)), any_address_(any_address) {}

  // The headers as they came, empty where they are missing; `token`: what the address has of it.
  Answer check(std::string_view host, std::string_view origin, std::string_view cookie, std::string_view token) const;
  std::string set_cookie() const;  // the value of "Set-Cookie:"
  const std::string& token() const { return token_; }

 private:
  bool is_ours(std::string_view host) const;
  bool has_cookie(std::string_view cookies) const;

  std::string token_, name_;
  std::vector<std::string> hosts_;
  bool any_address_;
};

// What listens at `bind` goes by these names; `machine`: what the machine is called.
std::vector<std::string> names_of(const std::string& bind, const std::string& machine);
// Whether it is every address of this machine.
bool is_every_address(const std::string& bind);
bool is_loopback(const std::string& bind);

}  // namespace gapscope
