#include "core/diagnose/conditions/library_work.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

namespace gapscope {
namespace {

// Files whose path begins so below a folder of packages.
struct Library {
  std::string_view files;
  LibraryTask task;
};
constexpr std::array kLibraries = {
    Library{"transformers/tokenization", LibraryTask::text},
    Library{"transformers/models/auto/tokenization", LibraryTask::text},
    Library{"tokenizers/", LibraryTask::text},
    Library{"sentencepiece/", LibraryTask::text},
    Library{"tiktoken/", LibraryTask::text},
    Library{"PIL/", LibraryTask::pictures},
    Library{"cv2/", LibraryTask::pictures},
    Library{"imageio/", LibraryTask::pictures},
    Library{"skimage/", LibraryTask::pictures},
    Library{"albumentations/", LibraryTask::pictures},
    Library{"torchvision/io/", LibraryTask::pictures},
    Library{"torchvision/transforms/", LibraryTask::pictures},
    Library{"torchvision/datasets/", LibraryTask::pictures},
    Library{"librosa/", LibraryTask::sound},
    Library{"soundfile.py", LibraryTask::sound},
    Library{"torchaudio/", LibraryTask::sound},
    Library{"pandas/", LibraryTask::tables},
    Library{"pyarrow/", LibraryTask::tables},
    Library{"datasets/", LibraryTask::tables},
    Library{"h5py/", LibraryTask::tables},
    Library{"wandb/", LibraryTask::logging},
    Library{"mlflow/", LibraryTask::logging},
    Library{"torch/utils/tensorboard/", LibraryTask::logging},
    Library{"tensorboardX/", LibraryTask::logging},
    Library{"matplotlib/", LibraryTask::logging},
    Library{"logging/__init__.py", LibraryTask::logging},
};

// "/usr/lib/python3/site-packages/PIL/Image.py(3218): open", "PIL/Image.py(3218): open"
std::optional<LibraryTask> task_of(std::string_view frame) {
  constexpr std::array<std::string_view, 2> kFolders = {"site-packages/", "dist-packages/"};
  for (const std::string_view folder : kFolders)
    if (const std::size_t at = frame.find(folder); at != frame.npos) frame.remove_prefix(at + folder.size());
  for (const Library& library : kLibraries)
    if (frame.starts_with(library.files)) return library.task;
  return std::nullopt;
}

}  // namespace

std::string_view task_words(LibraryTask task) {
  constexpr std::array<std::string_view, 5> kWords = {"tokenizes text", "decodes or transforms pictures", "reads sound",
                                                      "reads tables", "logs or draws"};
  return kWords[static_cast<std::size_t>(task)];
}

std::vector<LibraryCall> library_calls(const Facts& facts) {
  const std::vector<StringId> names =
      facts.names_matching([](std::string_view frame) { return frame.find(".py(") != frame.npos && task_of(frame); });
  if (names.empty()) return {};
  std::unordered_set<std::uint32_t> launching;  // lanes
  for (const GpuOp& op : facts.ops)
    if (op.linked()) launching.insert(facts.trace.lane_id(op.launch).value);
  std::unordered_set<std::uint32_t> frames;
  std::vector<SliceId> all;
  for (const StringId name : names)
    for (const SliceId s : facts.names.slices_named(name))
      if ((facts.own(s) & kIsPython) != 0) frames.insert(s.value), all.push_back(s);
  std::vector<LibraryCall> out;
  for (const SliceId s : all) {
    if ((facts.below(s) & kIsLaunch) != 0 || (facts.above(s) & kIsDataLoader) != 0) continue;
    if (launching.count(facts.trace.lane_id(s).value) == 0) continue;
    bool is_outermost = true;
    for (SliceId at = facts.parent(s); at && is_outermost; at = facts.parent(at))
      is_outermost = frames.count(at.value) == 0 || (facts.below(at) & kIsLaunch) != 0;
    if (is_outermost) out.push_back({s, *task_of(facts.trace.name(s))});
  }
  std::sort(out.begin(), out.end(), [](const LibraryCall& a, const LibraryCall& b) { return a.frame.value < b.frame.value; });
  return out;
}

}  // namespace gapscope
