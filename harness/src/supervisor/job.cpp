#include "supervisor/job.hpp"

#include "grade/outcome.hpp"

namespace labrig::supervisor {

using Json = nlohmann::ordered_json;

Json to_json(const Job& job) {
  Json json = {{"lab", job.lab.string()},
               {"submission", job.submission.string()},
               {"solution", job.solution.string()},
               {"programs", job.programs.string()},
               {"cache", job.cache.string()},
               {"jobs", job.jobs},
               {"record_reference", job.record_reference},
               {"cases", Json::array()}};
  for (const spec::Case& plan : job.cases) json["cases"].push_back(grade::to_json(plan));
  return json;
}

Job job_from(const Json& json) {
  Job job;
  job.lab = json.at("lab").get<std::string>();
  job.submission = json.at("submission").get<std::string>();
  job.solution = json.at("solution").get<std::string>();
  job.programs = json.at("programs").get<std::string>();
  job.cache = json.at("cache").get<std::string>();
  json.at("jobs").get_to(job.jobs);
  json.at("record_reference").get_to(job.record_reference);
  for (const Json& plan : json.at("cases")) job.cases.push_back(grade::case_from(plan));
  return job;
}

}  // namespace labrig::supervisor
