# Writes the templates as one C++ file: cmake -DOUT=… -DDIR=… -DNAMES=a;b -P embed.cmake
# GCC takes string literals of any length; the delimiter cannot occur in a template.
set(rows "")
foreach(name IN LISTS NAMES)
  file(READ ${DIR}/${name} text)
  string(APPEND rows "    {\"${name}\", R\"~~~~(${text})~~~~\"},\n")
endforeach()
file(WRITE ${OUT} "// Made from reports/template by embed.cmake.
#include \"template.hpp\"

namespace labrig::reports {

const std::map<std::string, std::string>& templates() {
  static const std::map<std::string, std::string> all = {
${rows}  };
  return all;
}

}  // namespace labrig::reports
")
