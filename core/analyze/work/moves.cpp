// What moves data without computing: 0 operations; what is gathered, its indices, the result.
#include <algorithm>
#include <cmath>

#include "core/analyze/work/families.h"

namespace gapscope::work {
namespace {

constexpr double kIndexBytes = 8;

double index_bytes(const WorkArgument& index) { return index.is_tensor() ? index.bytes() : index.count() * kIndexBytes; }

}  // namespace

double bytes_of_kernel(std::string_view kernel) {
  const auto has = [&](std::string_view word) { return kernel.find(word) != std::string_view::npos; };
  if (has("OpaqueType<1u>")) return 1;
  if (has("BFloat16") || has("c10::Half") || has("OpaqueType<2u>") || has("__half") || has("bfloat16")) return 2;
  if (has("OpaqueType<8u>") || has("double") || has("<long")) return 8;
  return has("float") || has("OpaqueType<4u>") || has("<int") ? 4 : 0;
}

double list_elements(const WorkArgument& argument) {
  if (argument.list.empty()) return argument.sizes.empty() ? 0 : argument.count();
  double out = 0;
  for (const Sizes& one : argument.list) out += elements(one);
  return out;
}

// Lists of tensors in or out: each element read once and written once.
Work cat(const WorkCall& call) {
  double moved = 0, element = bytes_of_kernel(call.kernel);
  for (const WorkArgument& a : call.arguments) {
    moved = std::max(moved, a.is_list() ? list_elements(a) : a.is_tensor() ? a.count() : 0);
    if (a.is_tensor() && !a.sizes.empty()) element = bytes_of_type(a.type);
  }
  if (moved == 0) return uncounted(kLongList);
  return element > 0 ? counted(0, 2 * moved * element) : uncounted(kOddShapes);
}

Work index_select(const WorkCall& call) {
  const WorkArgument &self = call.at(0), &index = call.at(2);
  if (self.sizes.empty() || !self.is_tensor()) return uncounted(kOddShapes);
  const std::vector<double> dim = call.numbers(1);
  if (dim.size() != 1) return uncounted(kNoValues);
  const double place = dim[0] < 0 ? dim[0] + static_cast<double>(self.sizes.size()) : dim[0];
  if (!(place >= 0) || place >= static_cast<double>(self.sizes.size())) return uncounted(kOddShapes);
  const double length = std::max(self.sizes[static_cast<std::size_t>(place)], 1.0);
  const double gathered = self.count() / length * index.count() * bytes_of_type(self.type);
  return counted(0, 2 * gathered + index_bytes(index));
}

Work gather(const WorkCall& call) {
  const WorkArgument &self = call.at(0), &index = call.at(2);
  if (!self.is_tensor() || index.sizes.empty()) return uncounted(kOddShapes);
  return counted(0, 2 * index.count() * bytes_of_type(self.type) + index_bytes(index));
}

Work embedding(const WorkCall& call) {
  const WorkArgument &weight = call.at(0), &index = call.at(1);
  if (weight.sizes.size() != 2) return uncounted(kOddShapes);
  return counted(0, 2 * index.count() * weight.sizes[1] * bytes_of_type(weight.type) + index_bytes(index));
}

Work embedding_backward(const WorkCall& call) {
  const WorkArgument &gradient = call.at(0), &index = call.at(1);
  if (gradient.sizes.empty()) return uncounted(kOddShapes);
  const std::vector<double> rows = call.numbers(2);
  if (rows.size() != 1) return uncounted(kNoValues);
  const double result = rows[0] * gradient.sizes.back() * bytes_of_type(gradient.type);
  return counted(gradient.count(), gradient.bytes() + index_bytes(index) + result);
}

// How many are put is what the values hold.
Work index_put(const WorkCall& call) {
  for (std::size_t i = call.size(); i-- > 1;)
    if (const WorkArgument& values = call.at(i); values.is_tensor() && !values.sizes.empty())
      return counted(values.count(), 2 * values.bytes());
  return uncounted(kNoSizes);
}

// PyTorch writes no sizes of the indices: its kernel's launch shows, as one block goes over one index where it gathers rows.
Work indexed(const WorkCall& call) {
  const WorkArgument& self = call.at(0);
  if (self.sizes.size() < 2 || !self.is_tensor() || call.kernel.find("vectorized_gather_kernel") == std::string_view::npos)
    return uncounted(kNoSizes);
  const double gathered = call.grid_x * elements(self.sizes) / self.sizes[0] * bytes_of_type(self.type);
  return counted(0, 2 * gathered + call.grid_x * kIndexBytes);
}

// Sizes of the result in a list of numbers; channels stay.
Work resample(const WorkCall& call) {
  const WorkArgument& self = call.at(0);
  if (self.sizes.size() < 3) return uncounted(kOddShapes);
  const bool backward = call.op.ends_with("_backward");
  const std::vector<double> places = call.numbers(backward ? 2 : 1);
  if (places.empty()) return uncounted(kNoValues);
  if (backward && places.size() != self.sizes.size()) return uncounted(kOddShapes);
  const double result = backward ? elements(places) : self.sizes[0] * self.sizes[1] * elements(places);
  return counted(std::max(result, self.count()), self.bytes() + result * bytes_of_type(self.type));
}

Work every_argument(const WorkCall& call) {
  double bytes = 0;
  for (const WorkArgument& a : call.arguments) bytes += a.sizes.empty() ? 0 : a.bytes();
  return counted(0, bytes);
}

// Keys and values of new tokens go into the cache: read, and written in its type.
Work cache_write(const WorkCall& call) {
  const WorkArgument &key = call.at(0), &value = call.at(1), &places = call.at(4);
  if (!key.is_tensor() || !value.is_tensor()) return uncounted(kOddShapes);
  const double cache = std::max(bytes_of_type(call.at(2).type), 1.0);
  return counted(0, key.bytes() + value.bytes() + (key.count() + value.count()) * cache + index_bytes(places));
}

// Queries and keys are turned in place: six operations a pair; of the table only the rows of these positions.
Work rotary(const WorkCall& call) {
  const WorkArgument &places = call.at(0), &query = call.at(1), &key = call.at(2), &table = call.at(4);
  if (query.sizes.empty() || table.sizes.empty()) return uncounted(kOddShapes);
  const double turned = query.count() + key.count();
  const double rows = places.count() * table.sizes.back() * bytes_of_type(table.type);
  return counted(3 * turned, 2 * (query.bytes() + key.bytes()) + index_bytes(places) + rows);
}

Work range(const WorkCall& call) {
  const std::vector<double> begin = call.numbers(0), end = call.numbers(1), step = call.numbers(2);
  if (begin.empty()) return uncounted(kNoValues);
  const double from = end.empty() ? 0 : begin[0], to = end.empty() ? begin[0] : end[0], by = step.empty() ? 1 : step[0];
  const double count = by != 0 ? std::ceil((to - from) / by) : 0;
  const double element = bytes_of_type(call.at(call.size() - 1).type);
  return count > 0 ? counted(count, count * (element > 0 ? element : kIndexBytes)) : uncounted(kOddShapes);
}

}  // namespace gapscope::work
