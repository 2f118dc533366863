// Over 400 lines: one matching, its passes in order.
#include "core/compare/kernel_changes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/base/distinct_texts.h"
#include "core/base/hash.h"
#include "core/compare/align.h"
#include "core/session/trace_session.h"

namespace gapscope {
namespace {

// How many matches further a kernel may be found in a generated one.
constexpr std::uint32_t kFusedAcross = 3;

// A piece of GPU work in order of launch.
struct Item {
  std::uint64_t key = 0;       // of its plain name
  std::uint64_t grid_key = 0;  // of name and grid
  std::uint32_t op = 0;        // position in SideData::ops
  std::uint32_t gap = 0;       // how many matches stand before it
  const KernelName* decoded = nullptr;
  std::string_view operator_name;
  bool taken = false;
};

struct Decoded {
  std::unordered_map<std::uint32_t, std::unique_ptr<KernelName>> by_name;
  const KernelName* of(const Trace& trace, SliceId slice) {
    auto& entry = by_name[trace.name_id(slice).value];
    if (!entry) entry = std::make_unique<KernelName>(decode(trace.name(slice)));
    return entry.get();
  }
};

std::uint64_t grid_key(std::uint64_t name, const GpuRow& row) {
  std::uint64_t key = name;
  for (const auto& sizes : {row.grid, row.block})
    for (const std::uint32_t n : sizes) key = mix64(key ^ n) + n;
  return key;
}

class Work {
 public:
  Work(const SideData& from, PlainNameKeys& keys) : data(from), trace(from.input->session.trace()) {
    for (const std::size_t s : data.picked) {
      const auto first = static_cast<std::ptrdiff_t>(items.size());
      for (const std::uint32_t i : data.steps[s].ops) items.push_back(item_of(i, keys));
      std::stable_sort(items.begin() + first, items.end(), [&](const Item& x, const Item& y) { return order(x) < order(y); });
      step_begin.push_back(static_cast<std::uint32_t>(first));
    }
    step_begin.push_back(static_cast<std::uint32_t>(items.size()));
  }

  Ns time(const Item& item) const { return data.ops()[item.op].span.length(); }
  std::string name(const Item& item) const { return std::string(trace.name(data.ops()[item.op].slice)); }
  std::vector<AlignKey> keys_of_step(std::size_t step) const {
    std::vector<AlignKey> out;
    for (std::size_t i = step_begin[step]; i < step_begin[step + 1]; ++i) out.push_back({items[i].key, items[i].grid_key});
    return out;
  }
  std::size_t steps() const { return step_begin.size() - 1; }

  const SideData& data;
  const Trace& trace;
  std::vector<Item> items;                // step by step
  std::vector<std::uint32_t> step_begin;  // into items; one more at the end

 private:
  Item item_of(std::uint32_t i, PlainNameKeys& keys) {
    const GpuOp& op = data.ops()[i];
    Item item;
    item.key = keys.key(op.slice);
    item.grid_key = grid_key(item.key, trace.gpu[op.gpu_row]);
    item.op = i;
    item.decoded = decoded_.of(trace, op.slice);
    if (const SliceId owner = data.input->session.links().owner_op(trace.gpu[op.gpu_row]))
      item.operator_name = trace.name(owner);
    return item;
  }
  std::tuple<Ns, Ns> order(const Item& item) const {
    const GpuOp& op = data.ops()[item.op];
    return {op.linked() ? op.launch_span.begin : op.span.begin, op.span.begin};
  }
  Decoded decoded_;
};

// By torch.compile: what the author wrote in Triton fuses nothing of this program.
bool is_generated(const Item& item) { return item.decoded->family.starts_with("Triton (Inductor)"); }

bool is_product(const KernelName& name) { return name.kind == KernelKind::gemm && name.operation.empty(); }

// The part of a library's product that a kernel of its own does: adding up, the epilogue.
bool follows_product(const KernelName& name) { return name.family.starts_with("cuBLAS") || !name.split_k.empty(); }

// Not the work that a compiler leaves to libraries.
bool is_fusible(const Item& item) {
  switch (item.decoded->kind) {
    case KernelKind::gemm:
    case KernelKind::attention:
    case KernelKind::convolution:
    case KernelKind::collective:
    case KernelKind::memset: return false;
    default: return !item.decoded->family.starts_with("Triton") && !follows_product(*item.decoded);
  }
}

// "aten::_to_copy" -> "to_copy", "aten::add_" -> "add"
std::string bare_operator(std::string_view name) {
  if (name.starts_with("aten::")) name.remove_prefix(6);
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return std::string(name);
}

bool names_operator(const KernelName& generated, std::string_view operator_name) {
  const std::string bare = bare_operator(operator_name);
  return std::any_of(generated.fused.begin(), generated.fused.end(), [&](const std::string& fused) {
    const std::string other = bare_operator(fused);
    return other == bare || (other == "to_copy" && bare == "copy");
  });
}

class Matcher {
 public:
  Matcher(Work& a, Work& b) : a_(a), b_(b) {}

  KernelChanges run() {
    const Alignment alignment = align_steps();
    out_.in_pieces = alignment.in_pieces;
    number_gaps(alignment);
    for (const auto& [i, j] : alignment.matches) add_same(a_.items[i], b_.items[j]);
    pair_by([](const Item& item) { return std::tuple(item.grid_key); }, [&](Item& x, Item& y) { add_same(x, y); });
    pair_by([](const Item& item) { return std::tuple(item.key); }, [&](Item& x, Item& y) { add_same(x, y); });
    pair_generated();
    fuse(a_, b_, false);
    fuse(b_, a_, true);
    const auto kind = [](const Item& item) { return std::tuple(similar(item)); };
    const auto kind_in_gap = [](const Item& item) { return std::tuple(similar(item), item.gap); };
    pair_by(kind_in_gap, [&](Item& x, Item& y) { add_variant(x, y); });
    pair_by(kind, [&](Item& x, Item& y) { add_variant(x, y); });
    for (Item& item : a_.items)
      if (!item.taken) add_single(a_, item, false);
    for (Item& item : b_.items)
      if (!item.taken) add_single(b_, item, true);
    finish();
    return std::move(out_);
  }

 private:
  // What a row lists.
  struct RowTexts {
    std::array<DistinctTexts, 2> operators, fused;  // a's, b's
  };
  using RowKey = std::tuple<KernelChangeClass, std::string, std::string>;

  // The first step with the first, and so on.
  Alignment align_steps() const {
    Alignment out;
    for (std::size_t s = 0; s < std::min(a_.steps(), b_.steps()); ++s) {
      const Alignment step = align(a_.keys_of_step(s), b_.keys_of_step(s));
      out.in_pieces |= step.in_pieces;
      for (const auto& [i, j] : step.matches) out.matches.emplace_back(a_.step_begin[s] + i, b_.step_begin[s] + j);
    }
    return out;
  }

  void number_gaps(const Alignment& alignment) {
    std::uint32_t at_a = 0, at_b = 0, gap = 0;
    const auto advance = [&](std::uint32_t to_a, std::uint32_t to_b) {
      for (; at_a < to_a; ++at_a) a_.items[at_a].gap = gap;
      for (; at_b < to_b; ++at_b) b_.items[at_b].gap = gap;
    };
    for (const auto& [i, j] : alignment.matches) {
      advance(i, j);
      ++gap;
      at_a = i + 1, at_b = j + 1;
    }
    advance(static_cast<std::uint32_t>(a_.items.size()), static_cast<std::uint32_t>(b_.items.size()));
  }

  // What may represent each other: one kind, and where a kernel computes one thing by name that same thing.
  static std::uint64_t similar(const Item& item) {
    const KernelName& n = *item.decoded;
    const bool by_kind = n.kind == KernelKind::gemm || n.kind == KernelKind::attention || n.kind == KernelKind::convolution;
    const std::string what = by_kind ? n.operation : n.operation.empty() ? n.short_name : n.operation;
    return hash_text(what) * 31 + static_cast<std::uint64_t>(n.kind) + (is_generated(item) ? 7919 : 0);
  }

  // Pairs what is left and has equal keys, the k-th with the k-th.
  template <class Key, class Pair>
  void pair_by(Key key, Pair pair) {
    std::map<decltype(key(a_.items.front())), std::vector<Item*>> left;
    for (Item& item : a_.items)
      if (!item.taken) left[key(item)].push_back(&item);
    if (left.empty()) return;
    std::map<decltype(key(a_.items.front())), std::size_t> used;
    for (Item& item : b_.items) {
      if (item.taken) continue;
      const auto at = left.find(key(item));
      if (at == left.end()) continue;
      std::size_t& next = used[at->first];
      if (next < at->second.size()) pair(*at->second[next++], item);
    }
  }

  KernelChange& row(KernelChangeClass change, const std::string& name_a, const std::string& name_b) {
    const auto [at, is_new] = place_.try_emplace(RowKey{change, name_a, name_b}, out_.rows.size());
    if (is_new) {
      out_.rows.push_back({});
      out_.rows.back().change = change;
      out_.rows.back().name_a = name_a;
      out_.rows.back().name_b = name_b;
      texts_.emplace_back();
    }
    return out_.rows[at->second];
  }
  RowTexts& texts_of(const KernelChange& row) { return texts_[static_cast<std::size_t>(&row - out_.rows.data())]; }
  void count_a(KernelChange& to, Item& item) {
    if (!to.example_a) to.example_a = a_.data.ops()[item.op].slice;
    ++to.count_a;
    to.ns_a += a_.time(item);
    item.taken = true;
    add_operator(to, item, 0);
  }
  void count_b(KernelChange& to, Item& item) {
    if (!to.example_b) to.example_b = b_.data.ops()[item.op].slice;
    ++to.count_b;
    to.ns_b += b_.time(item);
    item.taken = true;
    add_operator(to, item, 1);
  }
  void add_operator(const KernelChange& to, const Item& item, std::size_t side) {
    if (item.operator_name.empty()) return;
    texts_of(to).operators[side].add(item.operator_name);
  }

  void add_same(Item& x, Item& y) {
    KernelChange& to = row(KernelChangeClass::same, a_.name(x), b_.name(y));
    to.other_grid |= x.grid_key != y.grid_key;
    if (is_product(*x.decoded)) ++out_.gemms_equal;
    count_a(to, x);
    count_b(to, y);
  }

  void add_variant(Item& x, Item& y) {
    std::string detail;
    const KernelChangeClass change = tell_apart(*x.decoded, *y.decoded, detail);
    KernelChange& to = row(change, a_.name(x), b_.name(y));
    to.detail = detail;
    count_a(to, x);
    count_b(to, y);
  }

  void add_single(Work& side, Item& item, bool is_b) {
    const std::string name = side.name(item);
    KernelChange& to = is_b ? row(KernelChangeClass::added, "", name) : row(KernelChangeClass::removed, name, "");
    is_b ? count_b(to, item) : count_a(to, item);
  }

  // Two generated kernels in one place that share an operator: the compiler drew the borders elsewhere.
  void pair_generated() {
    const auto key = [](const Item& item) {
      return is_generated(item) && !item.decoded->fused.empty() ? std::tuple(item.gap, item.decoded->fused.front())
                                                                : std::tuple(~0u, std::string());
    };
    pair_by(key, [&](Item& x, Item& y) {
      if (!is_generated(x) || x.decoded->fused.empty()) return;
      KernelChange& to = row(KernelChangeClass::fused, a_.name(x), b_.name(y));
      to.detail = "fuses other operators";
      count_a(to, x);
      count_b(to, y);
    });
  }

  using Generated = std::map<std::uint32_t, std::vector<Item*>>;  // by gap

  // Kernels of `from` that went into generated kernels of `to`.
  void fuse(Work& from, Work& to, bool turned) {
    Generated generated;
    for (Item& item : to.items)
      if (!item.taken && is_generated(item)) generated[item.gap].push_back(&item);
    if (generated.empty()) return;
    std::map<Item*, std::vector<Item*>> parts;
    for (Item& item : from.items)
      if (!item.taken && is_fusible(item))
        if (Item* into = fused_into(item, generated)) parts[into].push_back(&item);
    for (const auto& [gap, list] : generated)
      for (Item* whole : list)
        if (const auto at = parts.find(whole); at != parts.end()) add_fused(*whole, at->second, turned);
  }

  // The nearest that names the operator, since a compiler moves work past a product; else the only one in the same place.
  static Item* fused_into(const Item& part, const Generated& generated) {
    for (std::uint32_t away = 0; away <= kFusedAcross; ++away) {
      if (Item* whole = naming(part, generated, std::int64_t{part.gap} + away)) return whole;
      if (Item* whole = naming(part, generated, std::int64_t{part.gap} - away)) return whole;
    }
    // The copy engine's work is fused only where a name says so.
    const auto here = generated.find(part.gap);
    const bool only = here != generated.end() && here->second.size() == 1 && part.decoded->family != "copy engine";
    return only ? here->second.front() : nullptr;
  }

  static Item* naming(const Item& part, const Generated& generated, std::int64_t gap) {
    const auto at = gap < 0 ? generated.end() : generated.find(static_cast<std::uint32_t>(gap));
    if (at == generated.end()) return nullptr;
    for (Item* whole : at->second)
      if (names_operator(*whole->decoded, part.operator_name)) return whole;
    return nullptr;
  }

  void add_fused(Item& whole, const std::vector<Item*>& parts, bool turned) {
    DistinctTexts names;
    for (const Item* part : parts) names.add(part->decoded->short_name);
    const std::string many = fmt::format("{}", fmt::join(names.list(), " + "));
    const auto change = parts.size() > 1 ? KernelChangeClass::fused : KernelChangeClass::family;  // of one kernel one is made
    KernelChange& to = turned ? row(change, a_.name(whole), many) : row(change, many, b_.name(whole));
    turned ? count_a(to, whole) : count_b(to, whole);
    RowTexts& texts = texts_of(to);
    for (const Item* part : parts) texts.fused[turned ? 1 : 0].add((turned ? b_ : a_).name(*part));
    for (Item* part : parts) turned ? count_b(to, *part) : count_a(to, *part);
    // The generated kernel's own wrapper says nothing of what it replaces.
    texts.operators[turned ? 0 : 1].clear();
  }

  void finish() {
    for (std::size_t r = 0; r < out_.rows.size(); ++r) {
      KernelChange& to = out_.rows[r];
      DistinctTexts operators;
      for (const DistinctTexts& side : texts_[r].operators)
        for (const std::string& name : side.list()) operators.add(name);
      to.operators = operators.list();
      to.fused_a = texts_[r].fused[0].list();
      to.fused_b = texts_[r].fused[1].list();
      KernelClassTotal& total = out_.totals[static_cast<std::size_t>(to.change)];
      total.count_a += to.count_a, total.count_b += to.count_b;
      total.ns_a += to.ns_a, total.ns_b += to.ns_b;
    }
    std::stable_sort(out_.rows.begin(), out_.rows.end(), [](const KernelChange& x, const KernelChange& y) {
      const bool same_x = x.change == KernelChangeClass::same, same_y = y.change == KernelChangeClass::same;
      return std::tuple(same_x, -(x.ns_a + x.ns_b)) < std::tuple(same_y, -(y.ns_a + y.ns_b));
    });
    for (const Item& item : a_.items) out_.gemms_a += is_product(*item.decoded) ? 1 : 0;
    for (const Item& item : b_.items) out_.gemms_b += is_product(*item.decoded) ? 1 : 0;
    compare_sets();
  }

  void compare_sets() {
    std::vector<std::uint64_t> grids_a, grids_b;
    std::set<std::uint64_t> names_a, names_b;
    for (const Item& item : a_.items) grids_a.push_back(item.grid_key), names_a.insert(item.key);
    for (const Item& item : b_.items) grids_b.push_back(item.grid_key), names_b.insert(item.key);
    std::sort(grids_a.begin(), grids_a.end());
    std::sort(grids_b.begin(), grids_b.end());
    out_.same_names_and_grids = !grids_a.empty() && grids_a == grids_b;
    out_.only_a = lacking(a_, names_b);
    out_.only_b = lacking(b_, names_a);
  }
  static std::vector<std::string> lacking(const Work& side, const std::set<std::uint64_t>& other) {
    std::map<std::uint64_t, std::string> names;
    for (const Item& item : side.items)
      if (!other.contains(item.key)) names.try_emplace(item.key, side.name(item));
    std::vector<std::string> out;
    for (const auto& [key, name] : names) out.push_back(name);
    std::sort(out.begin(), out.end());
    return out;
  }

  Work& a_;
  Work& b_;
  KernelChanges out_;
  std::map<RowKey, std::size_t> place_;
  std::vector<RowTexts> texts_;  // by row
};

// Names of TF32 kernels say what they multiply, others' what they add up in: TF32's products are added in fp32.
KernelName with_tf32_as_input(KernelName name) {
  if (is_tf32(name)) name.input_type = "tf32", name.compute_type = "fp32";
  return name;
}

}  // namespace

KernelChangeClass tell_apart(const KernelName& of_a, const KernelName& of_b, std::string& detail) {
  const KernelName a = with_tf32_as_input(of_a), b = with_tf32_as_input(of_b);
  using Field = std::string KernelName::*;
  struct Rule {
    KernelChangeClass change;
    std::string_view what;
    Field field;
    bool both;  // only where both names show it
  };
  constexpr KernelChangeClass kType = KernelChangeClass::dtype, kTile = KernelChangeClass::tile;
  // The first that differs decides; the others are said as well.
  static constexpr Rule kRules[] = {
      {kType, "input", &KernelName::input_type, true},
      {kType, "compute", &KernelName::compute_type, true},
      {kType, "output", &KernelName::output_type, true},
      {KernelChangeClass::family, "family", &KernelName::family, false},
      {KernelChangeClass::layout, "layout", &KernelName::layout, true},
      {KernelChangeClass::epilogue, "epilogue", &KernelName::epilogue, false},
      {kTile, "tile", &KernelName::tile, true},
      {kTile, "stages", &KernelName::stages, true},
      {kTile, "cluster", &KernelName::cluster, true},
      {kTile, "split-K", &KernelName::split_k, false},
      {kTile, "alignment", &KernelName::alignment, true},
      {kTile, "architecture", &KernelName::arch, true},
  };
  KernelChangeClass change = kTile;
  for (const Rule& rule : kRules) {
    const std::string &x = a.*rule.field, &y = b.*rule.field;
    if (x == y || (rule.both && (x.empty() || y.empty()))) continue;
    if (detail.empty()) change = rule.change;
    detail +=
        fmt::format("{}{} {} -> {}", detail.empty() ? "" : ", ", rule.what, x.empty() ? "none" : x, y.empty() ? "none" : y);
  }
  return change;
}

KernelChanges kernel_changes(const SideData& a, PlainNameKeys& keys_a, const SideData& b, PlainNameKeys& keys_b) {
  Work side_a(a, keys_a), side_b(b, keys_b);
  return Matcher(side_a, side_b).run();
}

}  // namespace gapscope
