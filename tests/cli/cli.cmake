# The command line as a person or a script meets it. A check that finds nothing to check ends with 77: skipped.
set(cli_checks "${PROJECT_SOURCE_DIR}/tests/cli")
set(recordings "${PROJECT_SOURCE_DIR}/tests/recordings")
set(public "${PROJECT_SOURCE_DIR}/../shared/traces/public")  # by others, where they are at hand
add_test(NAME cli/info_of_samples COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/info_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces")
add_test(NAME cli/info_of_recordings COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/info_check.py"
  "$<TARGET_FILE:gapscope>" "${recordings}" "${recordings}/ranks" "${public}")
add_test(NAME cli/analyses_of_samples COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/analyses_check.py"
  "$<TARGET_FILE:gapscope>" "${PROJECT_SOURCE_DIR}/assets/traces")
add_test(NAME cli/analyses_of_recordings COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/analyses_check.py"
  "$<TARGET_FILE:gapscope>" "${recordings}" "${recordings}/ranks" "${public}")
add_test(NAME cli/jax COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/jax_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/../shared/producers/jax_train_h100_perfetto.json.gz"
  "${PROJECT_SOURCE_DIR}/../shared/producers/jax_train_h100_tensorboard.json.gz")
add_test(NAME cli/nsight COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/nsight_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/../shared/producers/h100_2gpu_1s.sqlite" "${PROJECT_SOURCE_DIR}/../shared/producers/mock.sqlite")
add_test(NAME cli/rocprof COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/rocprof_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/../shared/producers/rocprofv3_mi350x_part.json.gz")
if(NOT GAPSCOPE_SANITIZE)  # jemalloc serves, as app/allocator.cpp has set it
  add_test(NAME cli/allocator COMMAND gapscope --version)
  set_tests_properties(cli/allocator PROPERTIES ENVIRONMENT "MALLOC_CONF=stats_print:true" PASS_REGULAR_EXPRESSION "opt.thp: \"always\"")
endif()
add_test(NAME cli/bad_input COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/bad_input_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz")
add_test(NAME cli/files COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/files_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz" "${recordings}/ranks/fsdp_rank0.json.gz" "${recordings}/ranks/fsdp_rank1.json.gz")
add_test(NAME cli/diagnose COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/diagnose_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/matmul_add_64_cold_eager.json.gz")
add_test(NAME cli/guide COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/guide_check.py" "$<TARGET_FILE:gapscope>" "${PROJECT_SOURCE_DIR}")
add_test(NAME cli/why COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/why_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz" "${recordings}/ranks/tp_rank0.json.gz")
add_test(NAME cli/whatif COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/replay/naive.py" "$<TARGET_FILE:gapscope>"
  "${recordings}/truth_gain.json" "${recordings}" "${PROJECT_SOURCE_DIR}/assets/traces" "${PROJECT_SOURCE_DIR}/../shared/traces")
add_test(NAME cli/whatif_random COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/replay/random_check.py" "$<TARGET_FILE:gapscope>")
add_test(NAME cli/modules COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/modules_check.py" "$<TARGET_FILE:gapscope>" "${recordings}/truth_modules.json"
  "${PROJECT_SOURCE_DIR}/assets/traces/transformer_baseline.json.gz")
add_test(NAME cli/roofline COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/roofline_check.py" "$<TARGET_FILE:gapscope>" "${recordings}" "${recordings}/ranks"
  "${PROJECT_SOURCE_DIR}/assets/traces" "${public}" "${PROJECT_SOURCE_DIR}/../shared/traces/llama_train_stack.json.xz")
add_test(NAME cli/compile COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/compile_check.py" "$<TARGET_FILE:gapscope>" "${recordings}"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz")
add_test(NAME cli/overview COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/overview_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/transformer_baseline.json.gz" "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz" "${recordings}/ranks/fsdp_rank1.json.gz")
add_test(NAME cli/ranks COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/ranks_check.py" "$<TARGET_FILE:gapscope>" "${recordings}/ranks"
  $<$<BOOL:${GAPSCOPE_HAVE_MPI}>:$<TARGET_FILE:gapscope-mpi>>)
add_test(NAME cli/diff COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/diff_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz" "${PROJECT_SOURCE_DIR}/assets/traces/matmul_add_64_cold_eager.json.gz")
add_test(NAME cli/second_reader COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/second_reader.py" "$<TARGET_FILE:gapscope>"
  "${recordings}" "${recordings}/ranks" "${public}")
add_test(NAME cli/second_reader_of_runs COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/second_reader_of_runs.py"
  "$<TARGET_FILE:gapscope>" "${recordings}" "${recordings}/ranks" "${PROJECT_SOURCE_DIR}/assets/traces" "${public}")
add_test(NAME cli/crop COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/crop_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz")
add_test(NAME cli/merge_counters COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/merge_counters_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/recorded_gemm_counters.json.gz")
add_test(NAME cli/screenshot COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/screenshot_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/transformer_baseline.json.gz" "${PROJECT_SOURCE_DIR}/assets/traces/transformer_optimized.json.gz")
add_test(NAME cli/shortage COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/shortage_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz")
add_test(NAME cli/output COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/output_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz")
add_test(NAME cli/record COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/record_check.py" "$<TARGET_FILE:gapscope>")
add_test(NAME cli/attach COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/attach_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz")
add_test(NAME cli/sql COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/sql_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz" "${recordings}/ranks/fsdp_rank0.json.gz" "${recordings}/ranks/fsdp_rank1.json.gz")
add_test(NAME cli/snapshot COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/snapshot_check.py" "$<TARGET_FILE:gapscope>" "${PROJECT_SOURCE_DIR}/../shared/snapshots")
add_test(NAME cli/mcp COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/mcp_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz" "${recordings}/ranks/fsdp_rank0.json.gz" "${recordings}/ranks/fsdp_rank1.json.gz")
add_test(NAME cli/mcp_robust COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/mcp_robust_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz")
add_test(NAME cli/serve COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/serve_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz" "${recordings}/ranks/fsdp_rank0.json.gz" "${recordings}/ranks/fsdp_rank1.json.gz")
add_test(NAME cli/names COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/names_check.py" "$<TARGET_FILE:gapscope>")
add_test(NAME cli/start COMMAND "${Python3_EXECUTABLE}" "${cli_checks}/start_check.py" "${PROJECT_SOURCE_DIR}/app/start" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}/assets/traces/mlp_geglu_eager.json.gz")
add_test(NAME package/sbom COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/package/sbom_check.py" "${PROJECT_SOURCE_DIR}/app/sbom.py"
  "$<TARGET_FILE:gapscope>" "$<TARGET_FILE:gapscope_serve>")
# Every one of these.
get_directory_property(cli_tests TESTS)
list(FILTER cli_tests INCLUDE REGEX "^(cli|package)/")
set_tests_properties(${cli_tests} PROPERTIES TIMEOUT 180 SKIP_RETURN_CODE 77)
set_tests_properties(cli/output cli/serve cli/mcp_robust PROPERTIES TIMEOUT 600)

# The Python package; what needs torch, pandas or a wheel: tests/python/run.
add_test(NAME python/reading COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/python/reading_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}")
add_test(NAME python/finish COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/python/finish_check.py" "$<TARGET_FILE:gapscope>"
  "${PROJECT_SOURCE_DIR}")
add_test(NAME python/wheel COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/python/wheel_check.py" "${PROJECT_SOURCE_DIR}")
