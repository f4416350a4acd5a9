// The only file that knows the mustache library: views are JSON everywhere else.
#include "template.hpp"

#include <openssl/evp.h>

#include <kainjow/mustache.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "text.hpp"

namespace labrig::reports {
namespace {

namespace mustache = kainjow::mustache;

mustache::data to_data(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::object: {
      mustache::data object(mustache::data::type::object);
      for (const auto& [key, item] : value.items()) object.set(key, to_data(item));
      return object;
    }
    case nlohmann::json::value_t::array: {
      mustache::data list(mustache::data::type::list);
      for (const auto& item : value) list.push_back(to_data(item));
      return list;
    }
    case nlohmann::json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      return text.empty() ? mustache::data(false) : mustache::data(text);
    }
    case nlohmann::json::value_t::boolean:
      return mustache::data(value.get<bool>());
    case nlohmann::json::value_t::null:
      return mustache::data(false);
    default:
      return mustache::data(value.dump());
  }
}

std::string sha256_base64(const std::string& text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  std::string out(64, '\0');
  out.resize(static_cast<std::size_t>(
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), digest, static_cast<int>(size))));
  return out;
}

}  // namespace

std::string fill(const std::string& name, nlohmann::json view) {
  static const std::string css = templates().at("style.css") + templates().at("charts.css"),
                           script = templates().at("report.js"), css_hash = sha256_base64(css),
                           script_hash = sha256_base64(script);
  // The policy allows this sheet and this script, and no other.
  view.update({{"css", css}, {"css_hash", css_hash}, {"script", script}, {"script_hash", script_hash}});
  mustache::data data = to_data(view);
  for (const auto& [file, text] : templates()) data.set(file, mustache::data(text));
  mustache::mustache page(templates().at(name));
  page.set_custom_escape([](const std::string& text) { return escape_html(text); });
  std::string out = page.render(data);
  if (!page.is_valid()) throw std::logic_error("template " + name + ": " + page.error_message());
  return out;
}

}  // namespace labrig::reports
