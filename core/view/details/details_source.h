#pragma once
// Where in the program's sources a slice was made. Parts of make_details (core/view/details/details_model.h).
#include <string>
#include <vector>

#include "core/view/details/details_model.h"

namespace gapscope {

// The innermost module and Python line around a call; of a call in the backward pass, which autograd makes on a thread without
// the program's frames, around the forward operator.
void add_source_lines(const Document& doc, SliceId call, std::vector<DetailsLine>& lines);
// The innermost Python frame of the program, by its whole name, around the slice: around the launch of GPU work or, where the
// work is joined with its capture, around that; else as above. A Python frame is its own. Empty where none is recorded.
std::string source_frame(const Document& doc, SliceId slice);
// The lines around its frame; without a title where there is none, or `lines` is null or about another one.
DetailsSection source_section(const Document& doc, SliceId slice, const std::string& frame,
                              std::shared_ptr<const SourceLines> lines);

}  // namespace gapscope
