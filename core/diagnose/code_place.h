#pragma once
// The program's own code behind a finding: where most of its places are; of a whole step, where most of the time is idle.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/trace/source_place.h"

namespace gapscope {

class Facts;
struct GpuOp;
struct Finding;
struct Rule;

struct CodePlace {
  SourcePlace source;    // of the function's first line, as Python's frames say it
  std::string function;  // "train_step"
  std::string module;    // "Linear_3", the nn.Module around it, or what region_place() found; empty where none is
};

// None without Python frames (with_stack=True), or where no frame around its places is the program's own.
std::optional<CodePlace> code_place(const Facts& facts, const Finding& finding);
// Of these slices, for a finding of `rule` whose own places are elsewhere: in the backward pass of what they are.
std::optional<CodePlace> code_place(const Facts& facts, const Rule& rule, const std::vector<SliceId>& slices);
// Who calls a function of a library: its own frame around most of the time in "torch/utils/checkpoint.py(...): checkpoint".
std::optional<CodePlace> place_of_callers(const Facts& facts, const Rule& rule, std::string_view file,
                                          std::string_view function);
// Of what slices with one of these bits (CpuBit) hold: the function with most of their time `all`, without other functions of
// the program; none where that is less than half.
std::optional<CodePlace> place_inside(const Facts& facts, std::uint32_t bits, Ns all);
// The outermost nn.Module, "Bert_0", that launched nearly all of this GPU work; empty where none did.
std::string module_of(const Facts& facts, const std::vector<GpuOp>& ops);
// What torch.compile is to be put around, as a line of code: a module's class or a function, where the places are mostly
// outside the module that takes most of the program's time; else empty.
std::string line_to_compile(const Facts& facts, const Finding& finding);
// Where the recording has no Python frames, so without a file: `module` is the innermost annotation of the program around most
// of its places' time, else the outermost operator; empty where neither is.
CodePlace region_place(const Facts& facts, const Finding& finding);
// Of a Python frame's name: whether it is the program's own. Those of PyTorch, JAX, Python's library and of well-known packages
// are not, nor are frames without a file.
bool is_own_frame(std::string_view frame);
// "train_step (train.py:12), in Linear_3": the file without its folders.
std::string place_words(const CodePlace& place);

}  // namespace gapscope
