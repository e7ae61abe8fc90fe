import * as z from 'zod'

const text = z.string()

/** What `config show`, `init` and `web-key` print. @param finding the schema of a finding of `doctor` */
export function setupSchemas<Finding extends z.ZodType>(finding: Finding) {
  return {
    'config-show': z.looseObject({
      settings: z.array(
        z.looseObject({
          name: text,
          value: text.nullable().describe('null: not set; of a secret `[hidden]`'),
          source: z.enum(['flag', 'environment', '.env', 'default']).nullable(),
        }),
      ),
    }),
    init: z.looseObject({
      file: text.describe('path of the .env'),
      written: z.array(text).describe('names of the settings in it that were asked for or given'),
      way: z.enum(['systemd', 'cron', 'compose', 'start']),
      run: text.describe('what to install or run'),
      findings: z.array(finding),
    }),
    'web-key-add': z.looseObject({ name: text, key: text.describe('kept nowhere') }),
    'web-key-list': z.looseObject({ keys: z.array(z.looseObject({ name: text, createdAt: z.iso.datetime() })) }),
  }
}
