#include "core/load/nvtx_text.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::size_t kLongestJson = 64 << 10;

constexpr std::array<std::string_view, 4> kFields = {", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = "};

std::optional<std::int64_t> number_at(std::string_view text, std::string_view field) {
  const std::size_t at = text.find(field);
  if (at == text.npos) return std::nullopt;
  std::int64_t value = 0;
  const char* const begin = text.data() + at + field.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

// "aten::add", "autograd::engine::evaluate_function: AddBackward0", "AddBackward0"; "FSDP::pre_forward" is a range.
bool is_operator_name(std::string_view name) {
  if (name.starts_with("autograd::engine::evaluate_function: ")) return true;
  if (name.find(' ') != name.npos) return false;
  while (!name.empty() && is_digit(name.back())) name.remove_suffix(1);
  return name.ends_with("Backward") ||
         (name.find("::") != name.npos && ((name.front() >= 'a' && name.front() <= 'z') || name.front() == '_'));
}

}  // namespace

NvtxText parse_nvtx(std::string_view text) {
  NvtxText out;
  std::size_t end = text.size();
  for (const std::string_view field : kFields) end = std::min(end, text.find(field));
  const std::string_view rest = text.substr(end);
  out.op_id = number_at(rest, kFields[1]);
  out.sequence = number_at(rest, kFields[0]);
  if (!out.op_id && !out.sequence) return {text, {}, {}, {}, false};
  out.name = text.substr(0, end);
  out.is_operator = is_operator_name(out.name);
  if (const std::size_t at = rest.find(kFields[2]); at != rest.npos) {
    const std::string_view sizes = rest.substr(at + kFields[2].size());
    const std::string_view list = sizes.substr(0, sizes.find(kFields[3]));
    if (list.starts_with('[') && is_small_json(list)) out.sizes = list;
  }
  return out;
}

bool is_small_json(std::string_view text) {
  if (text.empty() || text.size() > kLongestJson || (text.front() != '{' && text.front() != '[')) return false;
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; })) return false;
  simdjson::dom::parser parser;
  return parser.parse(text.data(), text.size()).error() == simdjson::SUCCESS;
}

}  // namespace gapscope
