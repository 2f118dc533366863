#pragma once
namespace gapscope {

// Gives memory that was freed back to the system, where the C library would keep it for later. Costs milliseconds: for
// after large pieces of work.
void return_free_memory();

}  // namespace gapscope
