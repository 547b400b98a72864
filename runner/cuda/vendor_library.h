// VendorLibrary: one of NVIDIA's shared libraries, looked for when it is first needed, so that the
// program starts, and says what is missing, where none of them is. Where it looks: beside the
// program, where the system's loader looks, in CUDA's usual folders, and in Python's packages,
// where PyTorch brings them along.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace llmb::runner::cuda {

// Folders to look in, in order. The loader's own places come after the first one.
struct LibraryPlaces {
  std::filesystem::path beside_program;
  std::vector<std::filesystem::path> folders;
};
// `environment` is asked for CUDA_HOME, CUDA_PATH, VIRTUAL_ENV, CONDA_PREFIX, PATH (for
// python3, whose packages may be PyTorch's) and HOME.
LibraryPlaces usual_library_places(const std::map<std::string, std::string>& environment);
LibraryPlaces usual_library_places();  // of this process

struct LibraryName {
  std::string title;                    // "cuBLASLt"
  std::vector<std::string> file_names;  // "libcublasLt.so.13", the best first
  std::string advice;                   // what brings it: "Install CUDA 13's libraries."
};

class VendorLibrary {
 public:
  // Throws NoDevice that names the library and where it was looked for. It is never unloaded:
  // CUDA's libraries do not survive that.
  explicit VendorLibrary(const LibraryName& name,
                         const LibraryPlaces& places = usual_library_places());

  const std::string& path() const { return path_; }

  // A function of the library, of the type that its header gives. Throws NoDevice where the library
  // does not have it.
  template <typename Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }
  // Null where the library does not have it.
  template <typename Function>
  Function function_if_there(const char* name) const {
    return reinterpret_cast<Function>(symbol_if_there(name));
  }

 private:
  void* symbol(const char* name) const;
  void* symbol_if_there(const char* name) const;

  std::string title_;
  std::string path_;
  void* handle_ = nullptr;
};

}  // namespace llmb::runner::cuda
