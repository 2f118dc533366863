#pragma once
// How torch.compile numbers what it compiled, and what its names and paths say.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gapscope {

// K/M: the K-th frame that Dynamo compiled, in its M-th version. Both count from 0.
struct CompileId {
  std::uint32_t frame = 0, version = 0;
  auto operator<=>(const CompileId&) const = default;
};
std::string to_text(const CompileId& id);  // "0/1"
// Of "Torch-Compiled Region: 0/1" or "..., compile_id=0/1"; none where the name holds no such id.
std::optional<CompileId> compile_id_of(std::string_view name);

constexpr std::string_view kCompiledRegion = "Torch-Compiled Region";
constexpr std::string_view kCompiledGraph = "## Call CompiledFxGraph";
constexpr std::string_view kGuardCheck = "TorchDynamo Cache Lookup";
// What Dynamo calls the rest of a function after a graph break: "torch_dynamo_resume_in_forward_at_25".
constexpr std::string_view kResume = "torch_dynamo_resume_in_";

// "HASH" of "## Call CompiledFxGraph HASH ##", "0/1" of "Torch-Compiled Region: 0/1".
std::string rest_of(std::string_view name, std::string_view head);

// "forward, line 25 of a/model.py" of "a/model.py(20): torch_dynamo_resume_in_forward_at_25"; empty where it is no such name.
std::string break_place(std::string_view frame);

// "/tmp/torchinductor_root/ob/cob.py" of "/tmp/torchinductor_root/ob/cob.py(132): call".
std::string path_of_frame(std::string_view frame);

// Inductor's cache folder, of a file two folders below it; empty where the path has none.
std::string cache_root(std::string_view path);

}  // namespace gapscope
