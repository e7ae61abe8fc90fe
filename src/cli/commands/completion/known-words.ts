import { topics } from '../../../analytics/catalogue.ts'
import { nameColumn, readQuestions } from '../../../analytics/questions.ts'
import type { Sql } from '../../../db/database.ts'
import type { CommandDeclaration } from '../../command.ts'
import type { Candidate } from './command-line.ts'
import { shells } from './completion-scripts.ts'

/** Reads from the database, or gives `none` without one. */
type WithSql = <T>(none: T, read: (sql: Sql) => Promise<T>) => Promise<T>

/** As many as a terminal shows. */
const most = 200

/** What may stand for the value of a flag; nothing for numbers, files and such. */
export async function valuesOf(flag: string, word: string, withSql: WithSql): Promise<readonly Candidate[]> {
  if (flag === '--log-level') return ['trace', 'debug', 'info', 'warn', 'error', 'silent'].map((value) => ({ value }))
  if (flag === '--dialect') return [{ value: 'live' }, { value: 'documented' }]
  return await named(flag.slice(2), word, withSql)
}

/** What may stand for the next operand of a command, by what its usage calls it. */
export async function operandsOf(
  { usage }: CommandDeclaration,
  { word, operands }: { readonly word: string; readonly operands: readonly string[] },
  withSql: WithSql,
): Promise<readonly Candidate[]> {
  const places = [...usage.matchAll(/[<[]([a-z]+)(\.\.\.)?[>\]]/g)].map(([, name = '']) => name)
  const place = places[Math.min(operands.length, places.length - 1)]
  if (place === 'shell') return shells.map((value) => ({ value }))
  if (place === 'question') return topics.flatMap(({ title, names }) => names.map((value) => ({ value, about: title })))
  if (place === 'args') return await withSql([], (sql) => argumentsOf(sql, word, operands))
  return place === undefined ? [] : await named(place, word, withSql)
}

/** The names of what an argument of a question is about. */
async function argumentsOf(sql: Sql, word: string, [name, ...given]: readonly string[]): Promise<readonly Candidate[]> {
  const question = (await readQuestions(sql)).find((one) => one.name === name)
  if (!question) return []
  const isFunction = question.kind === 'function'
  const [, filter, value] = /^(\w+)=(.*)$/s.exec(word) ?? []
  const asked = isFunction ? question.parameters[given.length]?.name : (filter ?? nameColumn(question)?.name)
  const found =
    asked && (given.length === 0 || filter || isFunction)
      ? await named(asked, value ?? word, (_, read) => read(sql))
      : []
  if (filter) return found.map((one) => ({ ...one, value: `${filter}=${one.value}` }))
  return isFunction
    ? found
    : [...found, ...question.columns.map((one) => ({ value: `${one.name}=`, about: one.comment ?? '' }))]
}

/** Names of what is called `resource`, `guild`, `guild_uuid`, `player`, `territory`, ... */
async function named(what: string, word: string, withSql: WithSql): Promise<readonly Candidate[]> {
  const kind = what.replace(/_uuid$/, '')
  if (kind === 'resource')
    return (await import('../../../resources/index.ts')).resources.map(({ name }) => ({ value: name }))
  const { namesStarting } = await import('../../../resources/key-names.ts')
  const read = Object.hasOwn(namesStarting, kind) ? namesStarting[kind] : undefined
  return read ? await withSql([], (sql) => read(sql, word, most)) : []
}
