#include "core/analyze/compiled/marked_slices.h"

#include <algorithm>
#include <tuple>

#include "core/analyze/account/idle_cause.h"
#include "core/analyze/compiled/compile_id.h"

namespace gapscope {
namespace {

constexpr std::string_view kCacheFolder = "torchinductor";
constexpr std::string_view kCompileIdKey = "compile_id=";

bool is_code_frame(std::string_view name) {
  return name.ends_with("): call") && name.find(kCacheFolder) != std::string_view::npos;
}

class Finder {
 public:
  explicit Finder(const Trace& trace) : t_(trace), known_(trace.strings.size(), kUnknown) {}

  MarkedSlices find() {
    for (const Category& c : t_.categories) kinds_.push_back(c.kind);
    for (std::uint32_t s = 0; s < t_.slice_count(); ++s) add(SliceId(std::size_t{s}));
    for (auto* list : {&out_.regions, &out_.graphs, &out_.lookups, &out_.compiles, &out_.compile_ids, &out_.code})
      std::sort(list->begin(), list->end(), [&](SliceId a, SliceId b) { return key(a) < key(b); });
    return std::move(out_);
  }

 private:
  static constexpr std::uint8_t kUnknown = 255;
  std::tuple<Ns, Ns, std::uint32_t> key(SliceId s) const { return {t_.begin(s), -t_.end(s), s.value}; }

  void add(SliceId s) {
    const Kind kind = kinds_[t_.slices.category[s.index()]];
    if (kind != Kind::op && kind != Kind::annotation && kind != Kind::python) return;
    const StringId name = t_.name_id(s);
    std::uint8_t& mark = known_[name.index()];
    if (mark == kUnknown) {
      mark = static_cast<std::uint8_t>(kind == Kind::python
                                           ? (is_code_frame(t_.strings[name]) ? CompileMark::code : CompileMark::none)
                                           : compile_mark_of(t_.strings[name]));
      if (kind == Kind::python) out_.has_resume |= t_.strings[name].find(kResume) != std::string_view::npos;
    }
    out_.has_python |= kind == Kind::python;
    if (mark == static_cast<std::uint8_t>(CompileMark::none) || t_.lane(s).kind == LaneKind::gpu_stream) return;
    switch (static_cast<CompileMark>(mark)) {
      case CompileMark::region: out_.regions.push_back(s); break;
      case CompileMark::graph: out_.graphs.push_back(s); break;
      case CompileMark::lookup: out_.lookups.push_back(s); break;
      case CompileMark::compile: out_.compiles.push_back(s); break;
      case CompileMark::compile_id: out_.compile_ids.push_back(s); break;
      default: out_.code.push_back(s);
    }
  }

  const Trace& t_;
  std::vector<Kind> kinds_;          // by category
  std::vector<std::uint8_t> known_;  // by name
  MarkedSlices out_;
};

}  // namespace

CompileMark compile_mark_of(std::string_view name) {
  if (name.starts_with(kCompiledRegion)) return CompileMark::region;
  if (name.starts_with(kCompiledGraph)) return CompileMark::graph;
  if (name.starts_with(kGuardCheck)) return CompileMark::lookup;
  if (name.find(kCompileIdKey) != std::string_view::npos) return CompileMark::compile_id;
  return is_compile_frame_name(name) ? CompileMark::compile : CompileMark::none;
}

MarkedSlices marked_slices(const Trace& trace) { return Finder(trace).find(); }

}  // namespace gapscope
