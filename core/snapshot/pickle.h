#pragma once
// Reads Python's pickles, protocols 2 to 5, as values. Nothing in a file is ever run: an opcode that would import or call
// something ends the reading with a sentence.
#include "core/base/result.h"
#include "core/load/byte_source.h"
#include "core/snapshot/pickle_values.h"

namespace gapscope {

// The one value of a pickle. An Error is a sentence about "The file": it is cut short, is no pickle, would run code, or holds
// what no memory snapshot holds. A pickle of N bytes takes 40 N bytes at
// most, and 2 MB; one of PyTorch's about N / 4.
Result<PickleValues> read_pickle(ByteSource& source);

}  // namespace gapscope
