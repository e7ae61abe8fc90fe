import { nameColumn, type Parameter, type Question } from './questions.ts'

/** What a person may write for a parameter or column, as a word of a shell. */
const words: Readonly<Record<string, string>> = {
  territory: '"Ragged Coast"',
  guild: 'GLD',
  guild_uuid: 'GLD',
  player: 'PlayerName',
  player_uuid: 'PlayerName',
  internal_name: '"Ash Plank"',
  material: '"Ash Plank"',
  counter: 'wars',
  resource: 'territories',
  world: 'WC1',
  at: 'yesterday',
  step: '"1 hour"',
  season: '24',
  type: 'guildLevel',
  entity: 'GLD',
}

/** The question as it can be asked in one line. */
export function exampleOf(question: Question): string {
  const { name, kind, parameters } = question
  const asked = ['wynnsync query', name]
  if (kind === 'function') asked.push(...parameters.flatMap(wordOf))
  else asked.push(words[nameColumn(question)?.name ?? ''] ?? '')
  return asked.join(' ').trim()
}

/** Without both of its ends, an interval is the last seven days. */
function wordOf({ name, optional }: Parameter): string[] {
  if (/^(from|to)_time$/.test(name)) return []
  const word = words[name]
  if (word !== undefined) return [word]
  return optional ? [] : [`<${name}>`]
}
