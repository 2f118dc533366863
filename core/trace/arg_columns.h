#pragma once
// The args of events that are stored as columns, each declared once. From these lists are made the keys that the parser looks
// for (core/load/event_keys.h), the fields of GpuRow and OpRow, how a row is read, cached and packed, the columns that SQL
// answers from without the file, and lines of the details panel. Every other arg stays in the file until it is asked for
// (core/load/args.h). Keys as Kineto writes them: core/load/KINETO.md, 4.7.
//
// To keep another arg, add one line, to GAPSCOPE_GPU_ARGS for GPU work or GAPSCOPE_OP_ARGS for operators, at the end:
//
//   ARG(field, type, absent, key, often, packing, shown)
//     field, type, absent   of the row; `absent` if the file says nothing. Types: integers, float,
//                           Dim3 ("[4, 16, 1]"), StringId (the value's JSON text)
//     key                   inside "args"
//     often                 repeats: alike from launch to launch of one kernel, or from call to call of one operator, so that
//                           the args cache may hold it; varies
//     packing               shared: equal rows share it while they wait for the end of the file; own: stored with each row,
//                           which needs a place in StoredGpu or StoredOp
//     shown                 line: a line of its own in the details of the slice, under `key`; apart: another section words it
#include <array>
#include <cstdint>

#include "core/base/ids.h"

namespace gapscope {

using Dim3 = std::array<std::uint32_t, 3>;  // x, y, z

}  // namespace gapscope

#define GAPSCOPE_GPU_ARGS(ARG)                                                           \
  ARG(device, std::int32_t, -1, "device", varies, shared, apart)                         \
  ARG(stream, std::int32_t, -1, "stream", varies, shared, apart)                         \
  ARG(context, std::int32_t, -1, "context", varies, shared, apart)                       \
  ARG(correlation, std::uint64_t, 0, "correlation", varies, own, apart)                  \
  ARG(graph_id, std::uint64_t, 0, "graph id", varies, shared, apart)                     \
  ARG(graph_node_id, std::uint64_t, 0, "graph node id", varies, shared, apart)           \
  ARG(registers, std::uint32_t, 0, "registers per thread", repeats, shared, apart)       \
  ARG(shared_memory, std::uint32_t, 0, "shared memory", repeats, shared, apart)          \
  ARG(grid, Dim3, {}, "grid", repeats, shared, apart)                                    \
  ARG(block, Dim3, {}, "block", repeats, shared, apart)                                  \
  ARG(blocks_per_sm, float, -1, "blocks per SM", repeats, shared, apart)                 \
  ARG(warps_per_sm, float, -1, "warps per SM", repeats, shared, apart)                   \
  ARG(occupancy_percent, float, -1, "est. achieved occupancy %", repeats, shared, apart) \
  ARG(hlo_op, StringId, {}, "hlo_op", repeats, shared, line)                             \
  ARG(hlo_module, StringId, {}, "hlo_module", repeats, shared, line)                     \
  ARG(scope, StringId, {}, "tf_op", repeats, shared, line)

#define GAPSCOPE_OP_ARGS(ARG)                                            \
  ARG(sequence, std::int64_t, -1, "Sequence number", varies, own, apart) \
  ARG(input_dims, StringId, {}, "Input Dims", repeats, shared, apart)    \
  ARG(input_types, StringId, {}, "Input type", repeats, shared, apart)

// Read by hand in core/load/event_args.cpp, as they go to more than one kind of row or are no plain value: OTHER(name, key).
#define GAPSCOPE_OTHER_ARGS(OTHER)            \
  OTHER(name, "name")                         \
  OTHER(labels, "labels")                     \
  OTHER(sort_index, "sort_index")             \
  OTHER(address, "Addr")                      \
  OTHER(bytes, "bytes")                       \
  OTHER(memory_bytes, "Bytes")                \
  OTHER(finished, "finished")                 \
  OTHER(external_id, "External id")           \
  OTHER(device_type, "Device Type")           \
  OTHER(device_id, "Device Id")               \
  OTHER(collective, "Collective name")        \
  OTHER(total_allocated, "Total Allocated")   \
  OTHER(total_reserved, "Total Reserved")     \
  OTHER(annotated_stream, "annotated_stream") \
  OTHER(kernel_details, "kernel_details")     \
  OTHER(copy_details, "memcpy_details")       \
  OTHER(step_number, "step_num")              \
  OTHER(grid_x, "grid_x")                     \
  OTHER(grid_y, "grid_y")                     \
  OTHER(grid_z, "grid_z")                     \
  OTHER(block_x, "block_x")                   \
  OTHER(block_y, "block_y")                   \
  OTHER(block_z, "block_z")

// What other versions of the writer call them: ALIAS(name of one above, key).
#define GAPSCOPE_ARG_ALIASES(ALIAS)          \
  ALIAS(input_dims, "Input dims")            \
  ALIAS(external_id, "external id")          \
  ALIAS(correlation, "correlation_id")       \
  ALIAS(correlation, "connection_id")        \
  ALIAS(device, "device_id")                 \
  ALIAS(device, "dev-id")                    \
  ALIAS(stream, "Physic Stream Id")          \
  ALIAS(stream, "sycl queue")                \
  ALIAS(stream, "queue-id")                  \
  ALIAS(graph_id, "cuda_graph_id")           \
  ALIAS(graph_node_id, "cuda_graph_node_id") \
  ALIAS(copy_details, "Memset_details")
