#include "core/diagnose/code_place.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/analyze/account/gap_pieces.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::size_t kRegionChars = 60;

// Where the host was for a place: in its slice, in the call that launched it, or in what its lane was in for the middle of it:
// what follows a pause is not what paused.
SliceId host_slice(const Facts& facts, const FindingSpan& at) {
  if (at.slice && is_gpu_work(facts.trace.kind(at.slice))) return facts.links.call_of(at.slice);
  if (at.slice) return at.slice;
  const LaneId lane = at.lane ? at.lane : facts.steps.empty() ? LaneId{} : facts.trace.lane_id(facts.steps.front());
  return lane ? facts.lanes.innermost_at(lane, at.span.begin + at.span.length() / 2) : SliceId{};
}

}  // namespace

// Kineto writes paths from sys.path on: "torch/nn/modules/module.py", "threading.py"; JAX files alone: "$pjit.py:12 call".
bool is_own_frame(std::string_view frame) {
  if (frame.starts_with('$')) {
    constexpr std::array<std::string_view, 39> kFiles = {"ad.py",
                                                         "api.py",
                                                         "api_util.py",
                                                         "array.py",
                                                         "basearray.py",
                                                         "batching.py",
                                                         "compiler.py",
                                                         "config.py",
                                                         "contextlib.py",
                                                         "core.py",
                                                         "dispatch.py",
                                                         "dtypes.py",
                                                         "fromnumeric.py",
                                                         "functools.py",
                                                         "indexing.py",
                                                         "lax.py",
                                                         "lax_numpy.py",
                                                         "layout.py",
                                                         "linear_util.py",
                                                         "mlir.py",
                                                         "monitoring.py",
                                                         "named_sharding.py",
                                                         "partial_eval.py",
                                                         "pjit.py",
                                                         "prng.py",
                                                         "profiler.py",
                                                         "pxla.py",
                                                         "random.py",
                                                         "reductions.py",
                                                         "sharding.py",
                                                         "sharding_impls.py",
                                                         "source_info_util.py",
                                                         "stages.py",
                                                         "threading.py",
                                                         "traceback_util.py",
                                                         "tree_util.py",
                                                         "ufuncs.py",
                                                         "util.py",
                                                         "xla_bridge.py"};
    const auto place = source_place(frame);
    return place && std::find(kFiles.begin(), kFiles.end(), place->file) == kFiles.end();
  }
  if (frame.find(".py(") == frame.npos || frame.starts_with('<')) return false;
  if (frame.find("site-packages/") != frame.npos || frame.find("dist-packages/") != frame.npos) return false;
  constexpr std::array<std::string_view, 26> kPackages = {
      "torch/",      "torchvision/", "torchaudio/", "transformers/", "accelerate/",   "lightning/", "pytorch_lightning/",
      "diffusers/",  "timm/",        "deepspeed/",  "peft/",         "numpy/",        "PIL/",       "vllm/",
      "sglang/",     "flash_attn/",  "triton/",     "xformers/",     "torchmetrics/", "datasets/",  "multiprocessing/",
      "concurrent/", "flashinfer/",  "apex/",       "einops/",       "megatron/"};
  constexpr std::array<std::string_view, 29> kLibrary = {
      "contextlib.py(", "threading.py(",   "functools.py(", "runpy.py(",       "queue.py(",    "selectors.py(",
      "subprocess.py(", "random.py(",      "socket.py(",    "typing.py(",      "enum.py(",     "inspect.py(",
      "weakref.py(",    "_weakrefset.py(", "abc.py(",       "dataclasses.py(", "warnings.py(", "copy.py(",
      "copyreg.py(",    "pickle.py(",      "posixpath.py(", "genericpath.py(", "tempfile.py(", "tokenize.py(",
      "traceback.py(",  "linecache.py(",   "collections/",  "importlib/",      "logging/"};
  const auto begins = [&](std::string_view with) { return frame.starts_with(with); };
  if (std::any_of(kPackages.begin(), kPackages.end(), begins) || std::any_of(kLibrary.begin(), kLibrary.end(), begins))
    return false;
  if (frame.find("torchinductor") != frame.npos) return false;  // written by Inductor
  return frame.find("/torch/") == frame.npos && frame.find("/lib/python3") == frame.npos;
}

namespace {

// Frames of the program around slices of the host, asked for one after another.
class OwnFrames {
 public:
  explicit OwnFrames(const Facts& facts) : facts_(facts), is_own_(facts.trace.strings.size(), -1) {}
  // The innermost one around a slice, may be itself; none of none.
  SliceId around(SliceId slice);
  // The same; of a thread without Python what the thread of the steps was in at `t`.
  SliceId at(SliceId slice, Ns t);

 private:
  bool is_own(SliceId frame);
  const Facts& facts_;
  std::vector<std::int8_t> is_own_;              // by name; below 0: not looked at
  std::unordered_map<SliceId, SliceId> around_;  // by frame of any code
  std::vector<SliceId> way_;
};

bool OwnFrames::is_own(SliceId frame) {
  std::int8_t& own = is_own_[facts_.trace.name_id(frame).index()];
  if (own < 0) own = is_own_frame(facts_.trace.name(frame)) ? 1 : 0;
  return own == 1;
}

SliceId OwnFrames::around(SliceId slice) {
  if (!slice) return {};
  SliceId at = (facts_.own(slice) & kIsPython) != 0 ? slice : facts_.ancestor(slice, kIsPython);
  way_.clear();
  SliceId found;
  for (; at && !found; at = facts_.ancestor(at, kIsPython)) {
    if (const auto known = around_.find(at); known != around_.end()) {
      found = known->second;
      break;
    }
    way_.push_back(at);
    if (is_own(at)) found = at;
  }
  for (const SliceId frame : way_) around_[frame] = found;
  return found;
}

SliceId OwnFrames::at(SliceId slice, Ns t) {
  if (const SliceId found = around(slice)) return found;
  // A thread without Python works for the one that runs the steps, as autograd's does in backward().
  const SliceId step = facts_.steps.empty() ? SliceId{} : facts_.steps.front();
  if (!step || !slice || (facts_.above(slice) & kIsPython) != 0) return {};
  return around(facts_.lanes.innermost_at(facts_.trace.lane_id(step), t));
}

struct Place {
  Ns time = 0, inner = 0;          // with what it calls, and without other functions of the program
  std::map<StringId, Ns> modules;  // inside it
};
using Places = std::map<StringId, Place>;  // by name of the frame

SliceId module_around(const Facts& facts, SliceId slice) {
  while (slice && !((facts.own(slice) & kIsPython) != 0 && facts.trace.name(slice).starts_with(kModule)))
    slice = facts.ancestor(slice, kIsPython);
  return slice;
}

SliceId outermost_module(const Facts& facts, SliceId slice) {
  SliceId found;
  for (SliceId at = module_around(facts, slice); at; at = module_around(facts, facts.parent(at))) found = at;
  return found;
}

Places by_places(const Facts& facts, OwnFrames& frames, const Finding& finding, bool of_waiting_thread) {
  // Of all of them: the widest spans may lie elsewhere than most of the time.
  std::vector<FindingSpan> slices;
  for (const SliceId slice : finding.slices) slices.push_back(span_of_slice(facts.trace, slice));
  Places out;
  for (const FindingSpan& at : slices.empty() ? finding.spans : slices) {
    const SliceId begin = host_slice(facts, at);
    const SliceId frame = of_waiting_thread && begin ? frames.at(begin, facts.trace.begin(begin)) : frames.around(begin);
    if (!frame) continue;
    Place& place = out[facts.trace.name_id(frame)];
    add_saturating(place.inner, at.span.length());
    const SliceId module = module_around(facts, begin);
    if (module && facts.trace.depth(module) > facts.trace.depth(frame))
      add_saturating(place.modules[facts.trace.name_id(module)], at.span.length());
  }
  return out;
}

// The idle time of the busiest device by the frame of the program that the host was in; a walk over all of it, made once.
struct OwnIdle {
  struct Times {
    CauseTimes time{}, inner{};  // as in Place
  };
  std::map<StringId, Times> by_name;
};

std::unique_ptr<const OwnIdle> own_idle(const Facts& facts, OwnFrames& frames) {
  std::unordered_map<SliceId, CauseTimes> by_frame;
  facts.gap_pieces()->each_gap([&](std::size_t, std::span<const HostPiece> pieces) {
    for (const HostPiece& piece : pieces)
      if (const SliceId frame = frames.at(piece.slice, piece.span.begin))
        add_saturating(by_frame[frame][index_of(piece.cause)], piece.span.length());
  });
  auto out = std::make_unique<OwnIdle>();
  const auto add = [](const CauseTimes& times, CauseTimes& to) {
    for (std::size_t c = 0; c < times.size(); ++c) add_saturating(to[c], times[c]);
  };
  for (const auto& [inner, times] : by_frame) {
    add(times, out->by_name[facts.trace.name_id(inner)].inner);
    StringId last;
    for (SliceId frame = inner; frame; frame = frames.around(facts.parent(frame))) {
      const StringId name = facts.trace.name_id(frame);
      if (name != last) add(times, out->by_name[name].time);  // once of a function that calls itself
      last = name;
    }
  }
  return out;
}

// Of a finding about the whole step: of the idle time that it claims.
Places by_idle_time(const Facts& facts, OwnFrames& frames, const Finding& finding) {
  const OwnIdle& idle = *facts.session.fact<OwnIdle>([&] { return own_idle(facts, frames); });
  const CauseSet causes = finding.rule->claim ? finding.rule->claim->causes : kAnyCause;
  const auto claimed = [&](const CauseTimes& times) {
    Ns sum = 0;
    for (std::size_t c = 0; c < times.size(); ++c)
      if ((causes >> c & 1u) != 0) add_saturating(sum, times[c]);
    return sum;
  };
  Places out;
  for (const auto& [name, times] : idle.by_name)
    if (const Ns time = claimed(times.time); time > 0) out[name] = {time, claimed(times.inner), {}};
  return out;
}

// The innermost function that has most of the time, with what it calls; else the one with most without that. The code around
// all functions only where there is no other.
Places::const_iterator innermost_of_most(const Facts& facts, const Places& places) {
  Ns all = 0;
  for (const auto& [name, place] : places) add_saturating(all, place.inner);
  const auto rank = [&](const auto& of) {
    const Place& place = of.second;
    const bool is_function = !facts.trace.strings[of.first].ends_with(": <module>"), is_most = place.time > all / 2;
    return std::tuple(is_function, is_most, is_most ? -place.time : 0, place.inner);
  };
  return std::max_element(places.begin(), places.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

std::optional<CodePlace> place_of_frame(std::string_view name) {
  auto source = source_place(name);
  if (!source) return std::nullopt;
  return CodePlace{std::move(*source), std::string(function_of_frame(name)), {}};
}

}  // namespace

std::optional<CodePlace> code_place(const Facts& facts, const Finding& finding) {
  OwnFrames frames(facts);
  // The launches of a step as one graph are of the whole step.
  const Gives& gives = gives_of(finding);
  const bool of_step = gives.cure == Cure::graph && !gives.fuses && facts.gap_pieces() != nullptr;
  Places places = of_step ? by_idle_time(facts, frames, finding) : by_places(facts, frames, finding, false);
  if (!of_step && places.empty()) places = by_places(facts, frames, finding, /*of_waiting_thread=*/true);
  if (places.empty()) return std::nullopt;
  const auto most = of_step ? innermost_of_most(facts, places)
                            : std::max_element(places.begin(), places.end(),
                                               [](const auto& a, const auto& b) { return a.second.inner < b.second.inner; });
  std::optional<CodePlace> out = place_of_frame(facts.trace.strings[most->first]);
  if (!out) return out;
  const auto& modules = most->second.modules;
  const auto module =
      std::max_element(modules.begin(), modules.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  // One module among many would read as if all of it were there.
  if (module != modules.end() && module->second >= most->second.inner / 2)
    out->module = facts.trace.strings[module->first].substr(kModule.size());
  return out;
}

std::optional<CodePlace> code_place(const Facts& facts, const Rule& rule, const std::vector<SliceId>& slices) {
  Finding of;
  of.rule = &rule;
  mark_slices(of, facts.trace, slices);
  return code_place(facts, of);
}

std::optional<CodePlace> place_inside(const Facts& facts, std::uint32_t bits, Ns all) {
  OwnFrames frames(facts);
  std::map<StringId, Ns> own;
  for (const SliceId s : facts.slices_with(kIsPython)) {
    if ((facts.above(s) & bits) == 0 || frames.around(s) != s) continue;
    own[facts.trace.name_id(s)] += facts.trace.duration(s);
    const SliceId outer = frames.around(facts.parent(s));
    if (outer && (facts.above(outer) & bits) != 0) own[facts.trace.name_id(outer)] -= facts.trace.duration(s);
  }
  const auto most = std::max_element(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most != own.end() && most->second >= all / 2 ? place_of_frame(facts.trace.strings[most->first]) : std::nullopt;
}

std::optional<CodePlace> place_of_callers(const Facts& facts, const Rule& rule, std::string_view file,
                                          std::string_view function) {
  const std::string end = fmt::format("): {}", function);
  std::vector<SliceId> slices;
  for (const StringId name : facts.names_matching([&](std::string_view n) { return n.starts_with(file) && n.ends_with(end); }))
    for (const SliceId s : facts.names.slices_named(name)) slices.push_back(s);
  return code_place(facts, rule, slices);
}

std::string module_of(const Facts& facts, const std::vector<GpuOp>& ops) {
  std::map<StringId, Ns> by;
  Ns all = 0;
  for (const GpuOp& op : ops) {
    add_saturating(all, op.span.length());
    if (const SliceId module = op.linked() ? outermost_module(facts, op.launch) : SliceId{})
      add_saturating(by[facts.trace.name_id(module)], op.span.length());
  }
  constexpr Ns kNearlyAll = 20;  // a twentieth may be elsewhere
  const auto most = std::max_element(by.begin(), by.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == by.end() || most->second < all - all / kNearlyAll) return {};
  return std::string(facts.trace.strings[most->first].substr(kModule.size()));
}

namespace {

// A line of code names nothing else: no lambda, and nothing that a trace makes up.
bool is_identifier(std::string_view name) {
  const auto is_part = [](char c) { return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && !is_digit(name[0]) && std::all_of(name.begin(), name.end(), is_part);
}

}  // namespace

std::string line_to_compile(const Facts& facts, const Finding& finding) {
  const auto outermost = [&](SliceId slice) { return outermost_module(facts, slice); };
  std::map<StringId, Ns> of_modules, of_places;  // by name; of places outside all modules by none
  std::vector<SliceId> modules;
  for (const StringId name : facts.names_matching([](std::string_view n) { return n.starts_with(kModule); }))
    for (const SliceId s : facts.names.slices_named(name))
      if (outermost(s) == s) add_saturating(of_modules[name], facts.trace.duration(s)), modules.push_back(s);
  OwnFrames frames(facts);
  std::map<StringId, Ns> functions;
  for (const FindingSpan& at : finding.spans) {
    const SliceId host = host_slice(facts, at), frame = frames.around(host);
    if (!frame) continue;
    const SliceId module = outermost(host);
    add_saturating(of_places[module ? facts.trace.name_id(module) : StringId{}], at.span.length());
    if (!module) add_saturating(functions[facts.trace.name_id(frame)], at.span.length());
  }
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto place = std::max_element(of_places.begin(), of_places.end(), by_time);
  const auto main = std::max_element(of_modules.begin(), of_modules.end(), by_time);
  if (place == of_places.end() || main == of_modules.end() || place->first == main->first) return {};
  if (place->first) {
    std::string_view name = facts.trace.strings[place->first].substr(kModule.size());
    name = name.substr(0, name.rfind('_'));  // "Linear_3": the fourth of its class
    return is_identifier(name) ? fmt::format("module = torch.compile(module)  # the {}", name) : std::string();
  }
  const auto function = std::max_element(functions.begin(), functions.end(), by_time);
  const std::string_view frame = facts.trace.strings[function->first];
  const bool calls_modules = std::any_of(modules.begin(), modules.end(), [&](SliceId module) {
    for (SliceId at = frames.around(module); at; at = frames.around(facts.parent(at)))
      if (facts.trace.name_id(at) == function->first) return true;
    return false;
  });
  const std::size_t at = frame.find("): ");
  if (calls_modules || at == frame.npos || !is_identifier(frame.substr(at + 3))) return {};
  return fmt::format("{0} = torch.compile({0})", frame.substr(at + 3));
}

CodePlace region_place(const Facts& facts, const Finding& finding) {
  std::map<StringId, Ns> by;
  Ns all = 0;
  for (const FindingSpan& at : finding.spans) {
    add_saturating(all, at.span.length());
    const SliceId host = host_slice(facts, at);
    if (!host) continue;
    SliceId region = (facts.own(host) & kIsAnnotation) != 0 ? host : facts.ancestor(host, kIsAnnotation);
    if (!region)
      for (SliceId op = (facts.own(host) & kIsOp) != 0 ? host : facts.ancestor(host, kIsOp); op; op = facts.ancestor(op, kIsOp))
        region = op;
    if (region) add_saturating(by[facts.trace.name_id(region)], at.span.length());
  }
  const auto most = std::max_element(by.begin(), by.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == by.end() || most->second <= all / 2) return {};
  std::string_view name = facts.trace.strings[most->first];
  constexpr std::string_view kBackward = "autograd::engine::evaluate_function: ";
  if (name.starts_with(kBackward)) name.remove_prefix(kBackward.size());
  return {{}, {}, std::string(name)};
}

std::string place_words(const CodePlace& place) {
  if (place.source.file.empty()) return place.module.empty() ? "" : "mostly in " + elide_middle(place.module, kRegionChars);
  const std::string at = place_text({place.source.file.substr(place.source.file.rfind('/') + 1), place.source.line});
  std::string out = place.function.empty() ? at : place.function + " (" + at + ")";
  if (!place.module.empty()) out += ", in " + place.module;
  return out;
}

}  // namespace gapscope
