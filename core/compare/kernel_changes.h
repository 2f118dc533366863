#pragma once
// What became of the GPU work of a step, by the names of its kernels. The work of both sides in order of launch is aligned
// step by step by name; of what is left, first equal names are paired wherever they stand, then kernels whose operators a
// generated kernel close by names, or that stand in its very place, are counted as fused into it, then work of one kind is
// paired in order and distinguished by what the names say. All pairings are heuristics but that of equal names.
#include <array>
#include <vector>

#include "core/analyze/kernel_name/kernel_name.h"
#include "core/compare/comparison.h"
#include "core/compare/plain_name.h"
#include "core/compare/side_reader.h"

namespace gapscope {

struct KernelChanges {
  std::vector<KernelChange> rows;
  std::array<KernelClassTotal, kKernelChangeClasses> totals{};
  bool in_pieces = false;
  // Matrix products, those of split-K helpers left out.
  std::uint32_t gemms_a = 0, gemms_b = 0, gemms_equal = 0;
  bool same_names_and_grids = false;  // as multisets
  std::vector<std::string> only_a,
      only_b;  // names that the other side lacks, without regard to numbers in generated names; sorted
};

KernelChanges kernel_changes(const SideData& a, PlainNameKeys& keys_a, const SideData& b, PlainNameKeys& keys_b);

// How two kernels of one kind differ, by their names; `detail` becomes "dtype tf32 -> fp16, family xmma -> nvjet".
KernelChangeClass tell_apart(const KernelName& a, const KernelName& b, std::string& detail);

}  // namespace gapscope
