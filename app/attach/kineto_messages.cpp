#include "app/attach/kineto_messages.h"

#include <cstddef>
#include <cstring>

namespace gapscope::attach {
namespace {

constexpr std::size_t kTypeBytes = 32, kHeaderBytes = sizeof(std::uint64_t) + kTypeBytes;
constexpr std::size_t kContextBytes = 16, kPollBytes = 16;  // of a "req": before its pids
constexpr std::int32_t kActivities = 2;
constexpr std::int32_t kMostPids = 1024;  // parents of parents; a real process has a dozen

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void add_number(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string message(std::string_view type, std::string_view body) {
  std::string out;
  add_number(out, std::uint64_t{body.size()});
  out.append(type).append(kTypeBytes - type.size(), '\0');
  return out.append(body);
}

std::optional<ClientMessage> parse_context(std::string_view body) {
  if (body.size() != kContextBytes) return std::nullopt;
  return ContextMessage{number_at<std::int32_t>(body, 0), number_at<std::int32_t>(body, 4), number_at<std::int64_t>(body, 8)};
}

std::optional<ClientMessage> parse_poll(std::string_view body) {
  if (body.size() < kPollBytes) return std::nullopt;
  const auto count = number_at<std::int32_t>(body, 4);
  if (count < 1 || count > kMostPids || body.size() != kPollBytes + sizeof(std::int32_t) * static_cast<std::size_t>(count))
    return std::nullopt;
  PollMessage poll{(number_at<std::int32_t>(body, 0) & kActivities) != 0, number_at<std::int64_t>(body, 8), {}};
  for (std::size_t at = kPollBytes; at < body.size(); at += sizeof(std::int32_t))
    poll.pids.push_back(number_at<std::int32_t>(body, at));
  return poll;
}

}  // namespace

std::optional<ClientMessage> parse_message(std::string_view datagram) {
  if (datagram.size() < kHeaderBytes) return std::nullopt;
  const std::string_view padded = datagram.substr(sizeof(std::uint64_t), kTypeBytes), body = datagram.substr(kHeaderBytes);
  const std::string_view type = padded.substr(0, padded.find('\0'));
  if (number_at<std::uint64_t>(datagram, 0) != body.size()) return std::nullopt;
  if (type == "ctxt") return parse_context(body);
  if (type == "req") return parse_poll(body);
  return std::nullopt;
}

std::string context_reply(std::int32_t contexts) {
  std::string body;
  add_number(body, contexts);
  return message("ctxt", body);
}

std::string poll_reply(std::string_view configuration) { return message("req", configuration); }

}  // namespace gapscope::attach
