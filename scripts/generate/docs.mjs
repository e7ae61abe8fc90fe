// The tables of the documentation that follow from the sources, by name: each stands in a page between
// `<!-- generated: NAME -->` and `<!-- end -->`.

import { readdirSync, readFileSync } from 'node:fs'
import { systemClock } from '../../dist/base/clock.js'
import { flagNames, settings } from '../../dist/base/settings.js'
import { exitCodes } from '../../dist/cli/exit-codes.js'
import { jsonSchemas } from '../../dist/cli/output/json-schemas.js'
import { createMeter } from '../../dist/monitoring/metrics.js'
import { resources } from '../../dist/resources/index.js'
import { catalogue } from '../../dist/sandbox/faults/index.js'
import { isWorklist } from '../../dist/sync/declare/resource.js'
import { policiesOf } from '../../dist/sync/evidence/policies.js'
import { readChanges } from '../../test/changes/patches.mjs'
import { callTree } from './call-trees.mjs'
import { explained } from './policies.mjs'

/** Files and folders whose functions everything calls: a tree of calls leaves them out. */
const COMMON = [
  'api/endpoints',
  'api/errors',
  'api/http',
  'api/schemas',
  'base',
  'db',
  'drawing/words',
  'resources/record',
  'resources/redaction',
  'sync/normalize/hash',
  'sync/run/run-log',
  'sync/sql',
  'sync/tables',
]

export const tables = {
  operations,
  notifications: () =>
    table(
      ['event', 'meaning', 'fields'],
      jsonSchemas.notification.options.map(({ shape, description }) => [
        code(shape.event.value),
        description,
        Object.keys(shape)
          .filter((name) => name !== 'event')
          .map(code)
          .join(', '),
      ]),
    ),
  'json-schemas': () =>
    table(
      ['document', 'JSON Schema'],
      Object.keys(jsonSchemas).map((name) => [code(name), `[${name}.schema.json](json/${name}.schema.json)`]),
    ),
  settings: () =>
    table(
      ['variable', 'flag', 'meaning'],
      Object.entries(settings.shape).map(([name, schema]) => [
        code(name),
        flagNames[name] ? code(flagNames[name]) : '',
        schema.description + defaultOf(schema),
      ]),
    ),
  changes: () =>
    table(
      ['change', 'files'],
      readChanges().map(({ name, title, files }) => [
        `[${title}](test/changes/${name}.patch)`,
        files.map(([file, what]) => `${code(file)} (${what})`).join(', '),
      ]),
    ),
  rules: () => {
    const { rules } = JSON.parse(readFileSync('test/rules.json', 'utf8'))
    const link = (file) => `[${file.replace('.test.ts', '')}](../../test/${file})`
    return table(
      ['number', 'rule', 'tests'],
      Object.entries(rules).map(([number, { rule, tests }]) => [number, rule, tests.map(link).join(', ')]),
    )
  },
  'exit-codes': () =>
    table(
      ['code', 'means', 'do'],
      Object.values(exitCodes).map(({ code: number, meaning, advice }) => [number, meaning, advice]),
    ),
  resources: () =>
    table(
      ['resource', 'requests', 'schedule of `start`', 'lane', 'cached by the API', '`backfill`'],
      resources.map((one) => [
        code(one.name),
        code(`GET ${one.route}`),
        code(one.schedule),
        one.lane,
        seconds(one.cacheSeconds),
        one.backfill
          ? `about ${one.backfill.keys.toLocaleString('en-US')} ${isWorklist(one) ? 'keys' : 'records'}`
          : '',
      ]),
    ),
  policies: () =>
    table(
      ['claim', 'what responses say', 'takes', 'what follows, since when', 'what ends it'],
      Object.entries(policiesOf({ absences: 2 })).map(([name, policy]) => {
        // A policy without a text here fails.
        const { says, follows, ends } = explained[name]
        return [name, says, takes(policy), follows, ends]
      }),
    ),
  'calls-of-territories': () =>
    callTree('sync/run/ingest#ingest', {
      leaves: COMMON,
      depth: 4,
      through: {
        'resource.extract': 'resources/territories/index#territories',
        'resource.derive': 'resources/territories/derive#deriveCaptures',
      },
    }),
  'calls-of-a-guild': () =>
    callTree('sync/run/run-resource#runWorklist', {
      leaves: [...COMMON, 'sync/archive', 'sync/respond'],
      depth: 4,
      through: { 'resource.extractOne': 'resources/guilds/index#guilds' },
    }),
  'calls-of-the-map': () => callTree('web/pages/map#mapPage', { leaves: COMMON }),
  'calls-of-a-question': () => callTree('web/api/routes#answer', { leaves: COMMON }),
  'calls-of-an-export': () => callTree('lake/export#exportLake', { leaves: [...COMMON, 'resources'] }),
  archive: () =>
    table(
      ['resource', 'kept for', 'measured'],
      resources.map((one) => [one.name, one.rawDays ? `${one.rawDays} days` : 'ever', one.rawCost]),
    ),
  faults: () =>
    table(
      ['fault', 'what goes wrong'],
      Object.entries(catalogue).map(([name, one]) => [code(name), one.about]),
    ),
  metrics: () =>
    table(
      ['metric', 'type', 'meaning'],
      metrics().map(({ name, type, help, samples }) => [code(name + labels(samples[0]?.labels)), type, help]),
    ),
}

/** Every metric, with one sample at least where it has labels. */
function metrics() {
  const meter = createMeter([{ resource: 'items', everySeconds: 3600 }], systemClock)
  meter.request({ bucket: 'items', status: 200 })
  const guarded = [{ guard: 'plausibility', action: 'rejected' }]
  const counts = { inserted: 0, changed: 0, closed: 0, events: 0, quarantined: 0, durationMs: 1 }
  meter.run({ resource: 'items', status: 'ok', guarded, ...counts })
  const resource = { resource: 'items', observedAt: new Date(0), gapSeconds: 0, quarantined: 0, drift: 0 }
  const budget = { account: 'guest', bucket: 'items', limit: 50, remaining: 50 }
  return meter.metrics({ resources: [resource], budgets: [budget] })
}

function labels(names = {}) {
  const all = Object.keys(names).filter((name) => name !== 'le')
  return all.length === 0 ? '' : `{${all.join(',')}}`
}

/** ` (default ...)`, where the description does not say it. */
function defaultOf(schema) {
  if (/\bdefault\b/.test(schema.description)) return ''
  const { def } = schema
  const inner = def.type === 'default' ? schema : def.type === 'pipe' ? def.in : undefined
  const value = inner?.def.type === 'default' ? inner.def.defaultValue : undefined
  return value === undefined || value === '' ? '' : ` (default ${code(value)})`
}

/** How much evidence a policy takes. */
function takes({ responses, apart, span }) {
  const between = apart === 'cache' ? 'of different cache windows' : `${seconds(apart / 1000)} apart`
  return `${responses} responses ${between}${span ? `, over ${seconds(span / 1000)}` : ''}`
}

function seconds(number) {
  if (number % 3600 === 0) return `${number / 3600} h`
  return number % 60 === 0 ? `${number / 60} min` : `${number} s`
}

function code(text) {
  return `\`${text}\``
}

function table(columns, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`
  return [line(columns), `|${columns.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')
}

/** The table of operations with the resources that use each: those whose files call its method of the client. */
function operations(before) {
  const [head, line, ...rows] = before.trim().split('\n')
  const texts = resources.map(({ name }) => {
    const files = readdirSync(`src/resources/${name}`).map((file) =>
      readFileSync(`src/resources/${name}/${file}`, 'utf8'),
    )
    return [name, files.join('\n')]
  })
  const written = rows.map((row) => {
    const [, operation, client, sandbox, uses] = row.split('|').map((cell) => cell.trim())
    const methods = [...client.matchAll(/`([\w.]+)`/g)].map(([, method]) => `api.${method}`)
    const others = uses.split(', ').filter((use) => use !== '' && !use.startsWith('`sync '))
    const users = texts.flatMap(([name, text]) =>
      methods.some((one) => text.includes(one)) ? [code(`sync ${name}`)] : [],
    )
    return `| ${operation} | ${client} | ${sandbox} | ${[...users, ...others].join(', ')} |`
  })
  return [head, line, ...written].join('\n')
}

/** The compose file with every setting that it does not give itself, so that none of the user's is without effect. */
export function withSettings(compose) {
  return compose.replace(
    /( *)(# generated: every other setting.*\n)[\s\S]*?( *# end\n)/,
    (_all, indent, begin, end) => {
      const given = new Set(compose.replace(/# generated[\s\S]*?# end/, '').match(/^ +[A-Z][A-Z_\d]+(?=: )/gm))
      const names = Object.keys(settings.shape).filter((name) => !given.has(indent + name))
      return indent + begin + names.map((name) => `${indent}${name}: \${${name}:-}\n`).join('') + end
    },
  )
}

/** A page with its tables written anew. @throws RangeError for a marker without a table */
export function withTables(page) {
  return page.replace(
    /(<!-- generated: ([\w-]+) -->\n)([\s\S]*?)(\n<!-- end -->)/g,
    (_all, begin, name, before, end) => {
      if (!tables[name]) throw new RangeError(`no table is called ${name}`)
      return `${begin}\n${tables[name](before)}\n${end}`
    },
  )
}
