/* Configurations: what contradicts itself is refused. */
#include <stdio.h>
#include <string.h>

#include "ran.h"
#include "test.h"

static bool is_refused(const char *json, struct ran_error *err)
{
        struct ran_config c;
        bool refused;

        CHECK_OK(ran_fields_init(ran_config_fields, &c, err), *err);
        CHECK_OK(ran_fields_parse(ran_config_fields, &c, json, strlen(json), false, err), *err);
        refused = ran_config_check(&c, err) == RAN_EINVAL;
        ran_fields_release(ran_config_fields, &c);
        return refused;
}

/* Each member may be as it is, but not beside the others; the file of a stranger may have them. */
TEST(configurations_that_contradict_themselves_are_refused)
{
        static const struct {
                const char *json, *sentence;
        } bad[] = {
                {"{\"encoder\":\"transformer\",\"heads\":3,\"attention\":\"full,window\"}",
                 "2 patterns for 3 heads"},
                {"{\"encoder\":\"contextualizer\",\"task\":\"tag\",\"wide\":0}", "it can classify"},
                {"{\"task\":\"tag\",\"wide\":0,\"mask\":\"causal\",\"min_window\":1}",
                 "only language models (lm) hide what follows"},
                {"{\"task\":\"lm\",\"wide\":0,\"mask\":\"none\"}", "must not see what it predicts"},
                {"{\"task\":\"lm\",\"wide\":0,\"mask\":\"causal\",\"min_window\":2}",
                 "min_window must be 1, not 2"},
                {"{\"task\":\"mlm\",\"wide\":0,\"spelling\":1}", "spelling must be 0"},
                {"{\"task\":\"mlm\",\"wide\":1}", "wide must be 0"},
                {"{\"head_dim\":7}", "head_dim must be even, not 7"},
                {"{\"wide\":1,\"affixes\":true}", "wide must be 2 at least, or affixes off"},
                {"{\"task\":\"tag\",\"wide\":4,\"affixes\":true}", "affixes must be off"},
        };
        struct ran_error err = {0};

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                bool refused = is_refused(bad[i].json, &err);

                if (!CHECK(refused && strstr(err.text, bad[i].sentence) != NULL))
                        printf("  %s: %s\n", bad[i].json, err.text);
        }
        CHECK(!is_refused("{\"head_dim\":7,\"rotary\":false}", &err));
        CHECK(!is_refused("{\"task\":\"lm\",\"wide\":0,\"mask\":\"causal\",\"min_window\":1}",
                          &err));
}
