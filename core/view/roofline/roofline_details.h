#pragma once
// What the details say of an operator's call, or of a kernel of one, under its GPU's roof.
#include <optional>

#include "core/view/details/details_model.h"
#include "core/view/document.h"

namespace gapscope {

// Empty as long as nobody asked for the roofline (RooflineQuestion) or its answer is not there, and of slices that are no call.
DetailsSection roofline_section(const Document& doc, SliceId slice);
// Of a kernel with counters: bytes that DRAM moved for a launch of its name, on average.
std::optional<double> measured_bytes(const Document& doc, SliceId slice);

}  // namespace gapscope
