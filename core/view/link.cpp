#include "core/view/link.h"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace gapscope {
namespace {

constexpr std::string_view kScheme = "gapscope://";
constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";

std::string escaped(std::string_view path) {
  std::string out;
  for (const char c : path)
    out += kPlain.find(c) != kPlain.npos ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto byte = number_in<std::uint8_t>(text.substr(i + 1, 2), 16);
    if (!byte || *byte == 0 || i + 2 >= text.size()) return std::nullopt;
    out += static_cast<char>(*byte);
    i += 2;
  }
  return out;
}

// "200..900"
std::optional<Span> span_in(std::string_view text) {
  const std::size_t dots = std::min(text.find(".."), text.size());
  const auto begin = number_in<Ns>(text.substr(0, dots)), end = number_in<Ns>(text.substr(std::min(dots + 2, text.size())));
  return begin && end && *begin < *end ? std::optional(Span{*begin, *end}) : std::nullopt;
}

// "0,3": ascending; all of it, or none.
std::vector<LaneId> lanes_in(std::string_view text) {
  std::vector<LaneId> lanes;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto lane = number_in<std::uint32_t>(text.substr(0, comma));
    if (!lane || (!lanes.empty() && *lane <= lanes.back().value)) return {};
    lanes.emplace_back(*lane);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return lanes;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string link_text(const ViewLink& link) {
  const std::string place = place_in_link(link);
  return std::string(kScheme) + escaped(link.path) + (place.empty() ? "" : "?" + place);
}

std::string place_in_link(const ViewLink& link) {
  std::string place;
  if (link.time) place += fmt::format("&from={}&to={}", link.time->begin, link.time->end);
  if (link.slice) place += fmt::format("&slice={}", link.slice.value);
  if (link.marked) place += fmt::format("&marked={}..{}", link.marked->begin, link.marked->end);
  for (std::size_t i = 0; link.marked && i < link.lanes.size(); ++i)
    place += fmt::format("{}{}", i == 0 ? "&lanes=" : ",", link.lanes[i].value);
  return place.empty() ? place : place.substr(1);
}

std::optional<ViewLink> parse_link(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with(kScheme)) return std::nullopt;
  text.remove_prefix(kScheme.size());
  const std::size_t question = std::min(text.find('?'), text.size());
  const std::optional<std::string> path = unescaped(text.substr(0, question));
  if (!path || !path->starts_with('/')) return std::nullopt;
  ViewLink link{*path, std::nullopt, {}, std::nullopt, {}};
  std::optional<Ns> from, to;
  std::vector<LaneId> lanes;
  for (std::string_view rest = text.substr(std::min(question + 1, text.size())); !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const std::size_t equal = std::min(part.find('='), part.size());
    const std::string_view key = part.substr(0, equal), value = part.substr(std::min(equal + 1, part.size()));
    if (key == "from") from = number_in<Ns>(value);
    if (key == "to") to = number_in<Ns>(value);
    if (key == "marked") link.marked = span_in(value);
    if (key == "lanes") lanes = lanes_in(value);
    if (const auto slice = number_in<std::uint32_t>(value); key == "slice" && slice) link.slice = SliceId(*slice);
  }
  if (from && to && *from < *to) link.time = Span{*from, *to};
  if (link.marked) link.lanes = std::move(lanes);
  return link;
}

}  // namespace gapscope
