// DataDirectory: the folder objects are kept in, for one process at a time and for its user alone.
//
// The lock is flock(2) on the file "lock": the kernel drops it when the process ends, however it
// ends. The file names the process for whoever finds it locked.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::apiserver {

class DataDirectory {
 public:
  // Makes the folder when absent (mode 0700) and locks it. The error names the process that has it.
  static Result<std::unique_ptr<DataDirectory>> Open(const std::string& path);
  ~DataDirectory();  // unlocks
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  // The path of a file in it, which is made when absent and gets mode 0600.
  Result<std::string> PrivateFile(std::string_view name) const;
  // Gives a file of earlier versions mode 0600, if it is there.
  void MakePrivate(std::string_view name) const;

 private:
  DataDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;
};

}  // namespace berth::apiserver
