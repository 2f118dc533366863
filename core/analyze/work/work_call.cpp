#include "core/analyze/work/work_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/parse_json.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

Json parsed(std::string_view text) {
  Result<Json> json = parse_json(text);
  return json ? std::move(*json) : Json();
}

Sizes sizes_of(const Json& item) {
  Sizes out;
  if (item.is_array())
    for (const Json& size : item)
      if (size.is_number()) out.push_back(size.get<double>());
  return out;
}

// [[[2, 3], [4]]]: a list of tensors is a list of lists.
std::vector<Sizes> list_of(const Json& item) {
  std::vector<Sizes> out;
  if (item.is_array() && !item.empty() && item[0].is_array())
    for (const Json& one : item) out.push_back(sizes_of(one));
  return out;
}

std::string text_of(const Json& list, std::size_t i) {
  if (!list.is_array() || i >= list.size()) return {};
  return list[i].is_string() ? list[i].get<std::string>() : list[i].dump();
}

// What stands between brackets and commas.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = text.find_first_not_of("[](), ", i);
    if (begin == std::string_view::npos) break;
    i = std::min(text.find_first_of("[](), ", begin), text.size());
    out.push_back(text.substr(begin, i - begin));
  }
  return out;
}

using BytesOf = std::pair<std::string_view, double>;
constexpr auto kTypes = std::to_array<BytesOf>({{"double", 8},
                                                {"long int", 8},
                                                {"long", 8},
                                                {"unsigned long", 8},
                                                {"c10::complex<float>", 8},
                                                {"c10::complex<double>", 16},
                                                {"float", 4},
                                                {"int", 4},
                                                {"unsigned int", 4},
                                                {"c10::complex<c10::Half>", 4},
                                                {"c10::Half", 2},
                                                {"c10::BFloat16", 2},
                                                {"short int", 2},
                                                {"short", 2},
                                                {"unsigned short", 2},
                                                {"bool", 1},
                                                {"unsigned char", 1},
                                                {"signed char", 1},
                                                {"c10::qint8", 1},
                                                {"c10::quint8", 1}});
// By c10::ScalarType: uint8, int8, int16, int32, int64, half, float, double, three complex types, bool, ..., bfloat16.
constexpr std::array<double, 16> kTypeCodes = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2};

const Sizes kNoSizes;
const WorkArgument kNoArgument;

}  // namespace

double elements(const Sizes& sizes) {
  double out = 1;
  for (const double size : sizes) out *= size;
  return out;
}

double bytes_of_type(std::string_view type) {
  if (type.starts_with("c10::Float8") || type.starts_with("c10::Float4")) return 1;
  const auto* at = std::find_if(kTypes.begin(), kTypes.end(), [&](const BytesOf& t) { return t.first == type; });
  return at == kTypes.end() ? 0 : at->second;
}

double bytes_of_type_code(std::string_view code) {
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), n);
  const bool whole = error == std::errc() && end == code.data() + code.size();
  return whole && n < kTypeCodes.size() ? kTypeCodes[n] : 0;
}

const WorkArgument& WorkCall::at(std::size_t i) const { return i < arguments.size() ? arguments[i] : kNoArgument; }
const Sizes& WorkCall::sizes(std::size_t i) const { return i < arguments.size() ? arguments[i].sizes : kNoSizes; }

std::vector<double> WorkCall::numbers(std::size_t i) const {
  std::vector<double> out;
  for (const std::string_view word : words(at(i).value)) {
    double number = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), number).ec == std::errc()) out.push_back(number);
  }
  return out;
}

std::vector<bool> WorkCall::flags(std::size_t i) const {
  std::vector<bool> out;
  for (const std::string_view word : words(at(i).value)) out.push_back(word == "True" || word == "true");
  return out;
}

std::optional<bool> WorkCall::flag(std::size_t i) const {
  const std::vector<bool> all = flags(i);
  return all.size() == 1 ? std::optional<bool>(all[0]) : std::nullopt;
}

std::optional<WorkCall> parse_call(std::string_view op, std::string_view input_dims, std::string_view input_types,
                                   std::string_view concrete_inputs) {
  const Json dims = parsed(input_dims), types = parsed(input_types), values = parsed(concrete_inputs);
  if (!dims.is_array()) return {};
  WorkCall out;
  out.op = op;
  out.has_values = values.is_array();
  for (std::size_t i = 0; i < dims.size(); ++i)
    out.arguments.push_back({sizes_of(dims[i]), list_of(dims[i]), text_of(types, i), text_of(values, i)});
  return out;
}

}  // namespace gapscope
