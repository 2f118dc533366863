# The recorder: libgapscope_sampler.so, loaded into CUDA programs, and what of it can be tested without CUDA.

# What a recording is made of: options, the file's pieces, the events' text. Position-independent for the library.
add_library(gapscope_recording STATIC app/record/recording.cpp app/record/piece_name.cpp app/record/status.cpp app/record/trace_pieces.cpp
  app/sampler/kineto_text.cpp app/sampler/event_text.cpp app/sampler/call_names.cpp app/sampler/ranges.cpp app/sampler/asked_times.cpp
  app/sampler/event_writer.cpp app/sampler/counters/metric_sets.cpp app/sampler/counters/counter_text.cpp
  app/sampler/counters/sample_clock.cpp core/analyze/gpu/occupancy.cpp core/base/temporary_file.cpp core/base/platform/posix/rename_unless_taken.cpp)
target_link_libraries(gapscope_recording PUBLIC gapscope_flags ZLIB::ZLIB PRIVATE gapscope::nlohmann_json)  # headers alone
set_target_properties(gapscope_recording PROPERTIES POSITION_INDEPENDENT_CODE ON)
unity(gapscope_recording "^(core|app/record)/")  # others have these, too

if(GAPSCOPE_HAVE_CUPTI)
  # CUPTI's records as plain values: tests make some up.
  add_library(gapscope_cupti_records STATIC app/sampler/cupti_records.cpp core/base/demangle.cpp)
  target_link_libraries(gapscope_cupti_records PUBLIC gapscope_recording gapscope::cupti gapscope::demangler)
  set_target_properties(gapscope_cupti_records PROPERTIES POSITION_INDEPENDENT_CODE ON)

  add_library(gapscope_sampler MODULE app/sampler/injection.cpp app/sampler/recorder.cpp app/sampler/cupti_library.cpp app/sampler/devices.cpp
    app/sampler/counters/counter_sampler.cpp app/sampler/counters/describe.cpp app/sampler/counters/nvml_library.cpp
    app/sampler/counters/pm_host.cpp app/sampler/counters/pm_library.cpp app/sampler/counters/pm_session.cpp)
  target_link_libraries(gapscope_sampler PRIVATE gapscope_cupti_records Threads::Threads ${CMAKE_DL_LIBS})
  # Inside the recorded program it exports nothing but the functions of injection.cpp, and brings its own C++ library.
  set_target_properties(gapscope_sampler PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_options(gapscope_sampler PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,defs)
endif()
