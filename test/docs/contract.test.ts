import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toJSONSchema } from 'zod'
import { settings } from '../../src/base/settings.ts'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { commonOptions } from '../../src/cli/options.ts'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { commands } from '../../src/cli/program.ts'
import { type Question, readQuestions } from '../../src/questions/questions.ts'
import { openApi } from '../../src/web/api/openapi.ts'
import { testDatabase } from '../support/postgres.ts'

/*
 * What users depend on, against what the last release had (test/contract.json): a difference needs a line under [Unreleased] in CHANGELOG.md that
 * names it. With the section of a new version in CHANGELOG.md, `WYNNSYNC_RECORD_CONTRACT=1` before the command of this test records anew.
 */

/** By kind, by what has parts (a view, a command, a path), by the name of the part. */
type Contract = Record<string, Record<string, Record<string, string>>>

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const file = 'test/contract.json'

async function contractOfNow(): Promise<Contract> {
  const questions = await readQuestions(await testDatabase('server'))
  return {
    'exit codes': {
      exit: Object.fromEntries(Object.entries(exitCodes).map(([name, { code }]) => [String(code), name])),
    },
    settings: { '': Object.fromEntries(Object.keys(settings.shape).map((name) => [name, ''])) },
    questions: Object.fromEntries(questions.map((one) => [one.name, partsOf(one)])),
    commands: await flagsOfCommands(),
    json: Object.fromEntries(
      Object.entries(jsonSchemas).map(([name, schema]) => [name, Object.fromEntries(fieldsOf(toJSONSchema(schema)))]),
    ),
    metrics: { '': metrics() },
    'read API': operations(
      openApi(questions, '') as unknown as OpenApi,
      new Set(questions.flatMap(({ columns, parameters }) => [...columns, ...parameters].map(({ name }) => name))),
    ),
    exports: Object.fromEntries(
      Object.entries<{ types?: string }>(JSON.parse(read('package.json')).exports).flatMap(([name, { types }]) =>
        types ? [[`wynnsync${name.slice(1)}`, exportedNames(types)]] : [],
      ),
    ),
  }
}

function partsOf({ columns, parameters }: Question): Record<string, string> {
  const given = parameters.map(({ name, type, optional }) => [`${name} =>`, `${type}${optional ? ' or nothing' : ''}`])
  return Object.fromEntries([...given, ...columns.map(({ name, type }) => [name, type])])
}

async function flagsOfCommands(): Promise<Contract[string]> {
  const found: Contract[string] = { '': Object.fromEntries(commonOptions.map(({ flags }) => [flags, ''])) }
  for (const one of commands)
    for (const command of 'commands' in one ? one.commands : [one]) {
      const name = [...('commands' in one ? [one.usage] : []), command.usage].join(' ')
      const flags = [...(command.options ?? []), ...((await command.loadOptions?.()) ?? [])]
      found[name] = Object.fromEntries(flags.map((flag) => [flag.flags, '']))
    }
  return found
}

interface JsonSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly additionalProperties?: JsonSchema | boolean
}

/** The path of each value with its type: `runs[].status`. */
function fieldsOf(given: object, path = '', isOptional = false): [string, string][] {
  const schema: JsonSchema = given
  const { anyOf, oneOf, items, properties = {}, required = [], additionalProperties: others } = schema
  const mark = isOptional ? ' or absent' : ''
  const choices = anyOf ?? oneOf
  if (choices) {
    const all = choices.flatMap((one) => fieldsOf(one, path, isOptional))
    const paths = [...new Set(all.map(([name]) => name))]
    return paths.map((name) => [
      name,
      [...new Set(all.filter((one) => one[0] === name).map((one) => one[1]))].join(' | '),
    ])
  }
  if (items) return fieldsOf(items, `${path}[]`, isOptional)
  if (typeof others === 'object' && Object.keys(others).length > 0) return fieldsOf(others, `${path}.*`, isOptional)
  const fields = Object.entries(properties).flatMap(([name, one]) =>
    fieldsOf(one, path === '' ? name : `${path}.${name}`, !required.includes(name)),
  )
  if (fields.length > 0) return fields
  const type =
    schema.enum?.join(' ') ?? (schema.const === undefined ? (schema.type ?? 'anything') : String(schema.const))
  return [[path, `${type}${mark}`]]
}

/** As the page says them, which is made from the sources. */
function metrics(): Record<string, string> {
  const rows = read('docs/reference/metrics.md').matchAll(/^\| `([^`]+)` \| (\w+) \|/gm)
  return Object.fromEntries([...rows].map(([, name, type]) => [name, type]))
}

interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly get: { readonly parameters?: readonly Given[] } }>>
}
type Given = { readonly name?: string; readonly in?: string; readonly $ref?: string }

/** @param known names that the questions have as well: each column is a filter */
function operations({ paths }: OpenApi, known: ReadonlySet<string>): Contract[string] {
  return Object.fromEntries(
    Object.entries(paths).map(([path, { get }]) => [
      path,
      Object.fromEntries(
        (get.parameters ?? [])
          .filter(({ name = '' }) => !known.has(name))
          .map((one) => [one.name ?? one.$ref ?? '', one.in ?? '']),
      ),
    ]),
  )
}

/** @param types the declarations that npm serves, made of a file of `src` */
function exportedNames(types: string): Record<string, string> {
  const text = read(types.replace('./dist/', 'src/').replace('.d.ts', '.ts')).replace(/\/\*[\s\S]*?\*\//g, '')
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) => list.split(','))
  const named = lists.map((one) => one.trim().split(' ').at(-1) ?? '')
  const declared = [...text.matchAll(/^export (?:declare )?(?:async )?(?:const|function|class|interface|type) (\w+)/gm)]
  const names = [...named, ...declared.map(([, name = '']) => name)].filter((name) => name !== '')
  return Object.fromEntries(names.sort().map((name) => [name, '']))
}

/** A line for each whole. */
function textOf(version: string | undefined, contract: Contract): string {
  const kinds = Object.entries(contract).map(([kind, wholes]) => {
    const lines = Object.entries(wholes).map(([name, parts]) => `    ${JSON.stringify(name)}: ${JSON.stringify(parts)}`)
    return `  ${JSON.stringify(kind)}: {\n${lines.join(',\n')}\n  }`
  })
  return `{\n"version": ${JSON.stringify(version)},\n"contract": {\n${kinds.join(',\n')}\n}\n}\n`
}

interface Difference {
  readonly said: string
  /** What one line of the changelog must name. */
  readonly names: readonly string[]
}

function differences(before: Contract, now: Contract): Difference[] {
  const found: Difference[] = []
  const keys = (one: object = {}, other: object = {}) => [...new Set([...Object.keys(one), ...Object.keys(other)])]
  for (const kind of keys(before, now))
    for (const whole of keys(before[kind], now[kind])) {
      const [old, young] = [before[kind]?.[whole], now[kind]?.[whole]]
      const name = whole.split('/').at(-1) ?? whole
      if (!old || !young) found.push({ said: `${kind}: ${whole} is ${old ? 'gone' : 'new'}`, names: [name] })
      else
        for (const part of keys(old, young)) {
          if (old[part] === young[part]) continue
          const said = `${kind}: ${part} of ${whole} was ${old[part] ?? 'absent'}, is ${young[part] ?? 'absent'}`
          found.push({ said, names: [name, part.split('.').at(-1) ?? part] })
        }
    }
  return found
}

/** Commands and flags without what they take, paths and parameters without their marks. */
const wordOf = (name: string) =>
  name
    .replace(/ =>$|\[\]|\*/g, '')
    .replace(/ ?[[<].*/, '')
    .replace(/\{.*/, '')

/** Those that no line of the changelog names. */
function untold(all: readonly Difference[], unreleased: string): string[] {
  const lines = unreleased.split(/^- /m)
  const has = (line: string, name: string) =>
    new RegExp(`(?<![\\w-])${wordOf(name).replace(/\W/g, '\\$&')}(?![\\w-])`).test(line)
  return all.flatMap(({ said, names }) => (lines.some((line) => names.every((name) => has(line, name))) ? [] : [said]))
}

test('whatever differs from the last release in what users depend on has a line in the changelog', async () => {
  const [unreleased = '', released = ''] = read('CHANGELOG.md').split(/^## /m).slice(1)
  const version = /^\[(\d\S*)\]/.exec(released)?.[1]
  const now = await contractOfNow()
  if (process.env.WYNNSYNC_RECORD_CONTRACT) writeFileSync(join(root, file), textOf(version, now))
  const recorded: { version: string; contract: Contract } = JSON.parse(read(file))
  expect(recorded.version, `${file} is of another release than CHANGELOG.md; record it`).toBe(version)
  // Each kind was found.
  for (const kind of Object.keys(recorded.contract))
    expect(Object.values(now[kind] ?? {}).flatMap(Object.keys)).not.toEqual([])
  expect(untold(differences(recorded.contract, now), unreleased)).toEqual([])
})

test('a difference is told by a line that names the whole and the part', () => {
  const before: Contract = {
    questions: { item: { level: 'integer', tier: 'text' } },
    commands: { 'sync [resource...]': {} },
  }
  const now: Contract = {
    questions: { item: { level: 'bigint', rank: 'text' }, patch: { at: 'date' } },
    commands: { 'sync [resource...]': { '--limit <keys>': '' } },
  }
  const all = differences(before, now)
  expect(untold(all, '')).toEqual([
    'questions: level of item was integer, is bigint',
    'questions: tier of item was text, is absent',
    'questions: rank of item was absent, is text',
    'questions: patch is new',
    'commands: --limit <keys> of sync [resource...] was absent, is ',
  ])
  const told =
    '[Unreleased]\n- `item` has `rank` for `tier`,\n  and `patch` is new.\n- `sync --limit N`\n- level-headed item\n- `level`'
  expect(untold(all, told)).toEqual(['questions: level of item was integer, is bigint'])
})
