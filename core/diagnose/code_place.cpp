#include "core/diagnose/code_place.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/saturating.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::string_view kModule = "nn.Module: ";

// Where the host was for a place: in its slice, in the call that launched it, or in what its lane was in at its end.
SliceId host_slice(const Facts& facts, const FindingSpan& at) {
  if (at.slice && is_gpu_work(facts.trace.kind(at.slice))) return facts.links.call_of(at.slice);
  if (at.slice) return at.slice;
  const LaneId lane = at.lane ? at.lane : facts.steps.empty() ? LaneId{} : facts.trace.lane_id(facts.steps.front());
  return lane ? facts.lanes.innermost_at(lane, std::max(at.span.begin, at.span.end - 1)) : SliceId{};
}

}  // namespace

// Kineto writes paths from sys.path on: "torch/nn/modules/module.py", "threading.py".
bool is_own_frame(std::string_view frame) {
  if (frame.find(".py(") == frame.npos || frame.starts_with('<')) return false;
  if (frame.find("site-packages/") != frame.npos || frame.find("dist-packages/") != frame.npos) return false;
  constexpr std::array<std::string_view, 22> kPackages = {
      "torch/",     "torchvision/", "torchaudio/", "transformers/", "accelerate/",   "lightning/", "pytorch_lightning/",
      "diffusers/", "timm/",        "deepspeed/",  "peft/",         "numpy/",        "PIL/",       "vllm/",
      "sglang/",    "flash_attn/",  "triton/",     "xformers/",     "torchmetrics/", "datasets/",  "multiprocessing/",
      "concurrent/"};
  constexpr std::array<std::string_view, 9> kLibrary = {"contextlib.py(", "threading.py(", "functools.py(",
                                                        "runpy.py(",      "queue.py(",     "selectors.py(",
                                                        "subprocess.py(", "random.py(",    "socket.py("};
  const auto begins = [&](std::string_view with) { return frame.starts_with(with); };
  if (std::any_of(kPackages.begin(), kPackages.end(), begins) || std::any_of(kLibrary.begin(), kLibrary.end(), begins))
    return false;
  return frame.find("/torch/") == frame.npos && frame.find("/lib/python3") == frame.npos;
}

std::optional<CodePlace> code_place(const Facts& facts, const Finding& finding) {
  struct Place {
    Ns time = 0;
    std::map<StringId, Ns> modules;
  };
  std::map<StringId, Place> frames;
  for (const FindingSpan& at : finding.spans) {
    StringId frame, module;
    const SliceId begin = host_slice(facts, at);
    for (SliceId s = begin; s && !frame; s = facts.ancestor(s, kIsPython)) {
      if ((facts.own(s) & kIsPython) == 0) continue;
      const std::string_view name = facts.trace.name(s);
      if (is_own_frame(name)) frame = facts.trace.name_id(s);
      if (!module && name.starts_with(kModule)) module = facts.trace.name_id(s);
    }
    if (!frame) continue;
    Place& place = frames[frame];
    add_saturating(place.time, at.span.length());
    if (module) add_saturating(place.modules[module], at.span.length());
  }
  const auto most = std::max_element(frames.begin(), frames.end(),
                                     [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
  if (most == frames.end()) return std::nullopt;
  const std::string_view name = facts.trace.strings[most->first];
  auto source = source_place(name);
  if (!source) return std::nullopt;
  CodePlace out{std::move(*source), {}, {}};
  if (const std::size_t at = name.find("): "); at != name.npos) out.function = name.substr(at + 3);
  const auto& modules = most->second.modules;
  const auto module =
      std::max_element(modules.begin(), modules.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (module != modules.end()) out.module = facts.trace.strings[module->first].substr(kModule.size());
  return out;
}

std::string place_words(const CodePlace& place) {
  const std::string at = place_text({place.source.file.substr(place.source.file.rfind('/') + 1), place.source.line});
  std::string out = place.function.empty() ? at : place.function + " (" + at + ")";
  if (!place.module.empty()) out += ", in " + place.module;
  return out;
}

}  // namespace gapscope
