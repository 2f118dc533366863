#include "core/analyze/work/work_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <simdjson.h>

namespace gapscope {
namespace {

using Element = simdjson::dom::element;

// Not parse_json: its values may allocate while they are destroyed, which ends the program where memory has run out.
class List {
 public:
  explicit List(std::string_view text) {
    is_list_ = !text.empty() && parser_.parse(text.data(), text.size()).get(items_) == simdjson::SUCCESS;
  }

  bool is_list() const { return is_list_; }
  simdjson::dom::array items() const { return items_; }

  std::string text(std::size_t i) const {
    Element item;
    if (!is_list_ || items_.at(i).get(item) != simdjson::SUCCESS) return {};
    std::string_view text;
    return item.get(text) == simdjson::SUCCESS ? std::string(text) : simdjson::minify(item);
  }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::array items_;
  bool is_list_ = false;
};

Sizes sizes_of(Element item) {
  Sizes out;
  simdjson::dom::array sizes;
  if (item.get(sizes) != simdjson::SUCCESS) return out;
  for (const Element one : sizes)
    if (double size = 0; one.get(size) == simdjson::SUCCESS) out.push_back(size);
  return out;
}

// [[[2, 3], [4]]]: a list of tensors is a list of lists.
std::vector<Sizes> list_of(Element item) {
  std::vector<Sizes> out;
  simdjson::dom::array list;
  if (item.get(list) != simdjson::SUCCESS || list.size() == 0 || !list.at(0).is_array()) return out;
  for (const Element one : list) out.push_back(sizes_of(one));
  return out;
}

// What is between brackets and commas.
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
  const List dims(input_dims), types(input_types), values(concrete_inputs);
  if (!dims.is_list()) return {};
  WorkCall out;
  out.op = op;
  out.has_values = values.is_list();
  std::size_t i = 0;
  for (const Element dim : dims.items()) {
    out.arguments.push_back({sizes_of(dim), list_of(dim), types.text(i), values.text(i)});
    ++i;
  }
  return out;
}

}  // namespace gapscope
