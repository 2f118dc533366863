#include "core/ranks/collective.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/parse_json.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& args, const char* key) {
  const auto at = args.find(key);
  if (at == args.end()) return {};
  return at->is_string() ? at->get<std::string>() : at->dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A number, or text that is one.
std::int64_t number_of(const Json& args, const char* key, std::int64_t otherwise) {
  const auto at = args.find(key);
  if (at == args.end()) return otherwise;
  if (at->is_number_integer()) return at->get<std::int64_t>();
  if (!at->is_string()) return otherwise;
  const Result<Json> inner = parse_json(at->get<std::string>());
  return inner && inner->is_number_integer() ? inner->get<std::int64_t>() : otherwise;
}

}  // namespace

CollectiveType collective_type(std::string_view name) {
  using T = CollectiveType;
  static constexpr std::array<std::pair<std::string_view, T>, 20> kNames = {
      {{"allreduce", T::all_reduce},
       {"allreduce_coalesced", T::all_reduce},
       {"all_reduce", T::all_reduce},
       {"allgather", T::all_gather},
       {"all_gather", T::all_gather},
       {"_allgather_base", T::all_gather},
       {"all_gather_into_tensor_coalesced", T::all_gather},
       {"allgather_into_tensor_coalesced", T::all_gather},
       {"reducescatter", T::reduce_scatter},
       {"reduce_scatter", T::reduce_scatter},
       {"_reduce_scatter_base", T::reduce_scatter},
       {"reduce_scatter_tensor_coalesced", T::reduce_scatter},
       {"all_to_all", T::all_to_all},
       {"alltoall", T::all_to_all},
       {"all_to_allv", T::all_to_all_v},
       {"alltoallv", T::all_to_all_v},
       {"barrier", T::barrier},
       {"broadcast", T::broadcast},
       {"send", T::send},
       {"recv", T::recv}}};
  const auto at = std::find_if(kNames.begin(), kNames.end(), [&](const auto& row) { return row.first == name; });
  return at != kNames.end() ? at->second : T::other;
}

std::string_view collective_type_words(CollectiveType type) {
  constexpr std::array<std::string_view, 10> kWords = {"all-reduce",        "all-gather", "reduce-scatter", "all-to-all",
                                                       "uneven all-to-all", "barrier",    "broadcast",      "send",
                                                       "receive",           "other"};
  return kWords[static_cast<std::size_t>(type)];
}

std::uint64_t element_bytes(std::string_view dtype) {
  static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 18> kBytes = {{{"Float", 4},
                                                                                         {"Int", 4},
                                                                                         {"Long", 8},
                                                                                         {"BFloat16", 2},
                                                                                         {"Bool", 1},
                                                                                         {"Byte", 1},
                                                                                         {"Double", 8},
                                                                                         {"Half", 2},
                                                                                         {"Short", 2},
                                                                                         {"Char", 1},
                                                                                         {"Float8_e4m3fn", 1},
                                                                                         {"Float8_e5m2", 1},
                                                                                         {"Float8_e4m3fnuz", 1},
                                                                                         {"Float8_e5m2fnuz", 1},
                                                                                         {"ComplexFloat", 8},
                                                                                         {"ComplexDouble", 16},
                                                                                         {"ComplexHalf", 4},
                                                                                         {"UInt64", 8}}};
  const auto at = std::find_if(kBytes.begin(), kBytes.end(), [&](const auto& row) { return row.first == dtype; });
  return at != kBytes.end() ? at->second : 0;
}

CollectiveWhat collective_of_kernel(std::string_view name, const std::string& grid) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNames = {{{"allreduce", "allreduce"},
                                                                                    {"all_reduce", "allreduce"},
                                                                                    {"cross_device_reduce", "allreduce"},
                                                                                    {"allgather", "allgather"},
                                                                                    {"all_gather", "allgather"},
                                                                                    {"reducescatter", "reduce_scatter"},
                                                                                    {"reduce_scatter", "reduce_scatter"},
                                                                                    {"alltoall", "all_to_all"},
                                                                                    {"broadcast", "broadcast"}}};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTypes = {
      {{"_f32", "Float"}, {"_bf16", "BFloat16"}, {"_f16", "Half"}, {"_f64", "Double"}, {"_i8", "Char"}, {"_u8", "Byte"}}};
  const std::string_view plain = name.substr(0, name.find('('));
  CollectiveWhat out;
  out.kernel = std::string(plain) + " " + grid;
  const auto known =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& n) { return contains_ignore_case(plain, n.first); });
  const auto type =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return plain.find(t.first) != plain.npos; });
  out.name = known != kNames.end() ? known->second : plain;
  out.type = collective_type(out.name);
  if (type != kTypes.end()) out.dtype = type->second;
  return out;
}

std::vector<std::int64_t> CollectiveWhat::member_ranks() const {
  const Result<Json> list = parse_json(members);
  std::vector<std::int64_t> out;
  if (!list || !list->is_array()) return out;
  for (const Json& rank : *list) {
    if (!rank.is_number_integer()) return {};
    out.push_back(rank.get<std::int64_t>());
  }
  return out;
}

double bus_factor(CollectiveType type, std::int64_t group_size) {
  if (group_size < 1 || !has_skew_table(type)) return 0;
  const double n = static_cast<double>(group_size);
  return (type == CollectiveType::all_reduce ? 2.0 : 1.0) * (n - 1) / n;
}

std::optional<CollectiveArgs> parse_collective(std::string_view members) {
  const Result<Json> parsed = parse_json('{' + std::string(members) + '}');
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const Json& args = *parsed;
  CollectiveArgs out;
  CollectiveWhat& w = out.what;
  w.name = text_of(args, "Collective name");
  if (w.name.empty()) return std::nullopt;
  w.type = collective_type(w.name);
  w.dtype = text_of(args, "dtype");
  w.group = text_of(args, "Process Group Name");
  w.description = text_of(args, "Process Group Description");
  w.members = text_of(args, "Process Group Ranks");
  w.in_split = text_of(args, "In split size");
  w.out_split = text_of(args, "Out split size");
  w.in_elements = std::max<std::int64_t>(0, number_of(args, "In msg nelems", 0));
  w.out_elements = std::max<std::int64_t>(0, number_of(args, "Out msg nelems", 0));
  w.group_size = number_of(args, "Group size", 0);
  w.peer = number_of(args, w.type == CollectiveType::send ? "Dst Rank" : "Src Rank", -1);
  if (!is_point_to_point(w.type)) w.peer = -1;
  out.seq = number_of(args, "Seq", -1);
  return out;
}

}  // namespace gapscope
