import type { Option } from 'commander'
import type { CommandDeclaration, CommandGroup } from '../../command.ts'
import { commonOptions } from '../../options.ts'

/** A word that may stand in the command line. */
export interface Candidate {
  readonly value: string
  readonly about?: string
}

/** What stands on a command line before its last word. */
interface Line {
  /** The last word, without its quotes. */
  readonly word: string
  readonly group?: CommandGroup
  readonly command?: CommandDeclaration
  /** The flag whose value the last word is. */
  readonly option?: string
  readonly operands: readonly string[]
  readonly flags: { readonly databaseUrl?: string }
}

/** All flags of a command, those that resources declare included. */
export async function optionsOf({ options = [], loadOptions }: CommandDeclaration): Promise<readonly Option[]> {
  return [...options, ...((await loadOptions?.()) ?? []), ...commonOptions]
}

/** Reads the words after `wynnsync`, as a shell has them: perhaps quoted, and `--flag=value` perhaps as three words. */
export function readLine(given: readonly string[], commands: readonly (CommandDeclaration | CommandGroup)[]): Line {
  const words = given.flatMap((word) =>
    word === '=' ? [] : /^--[a-z-]+=/.test(word) ? word.split(/=(.*)/s, 2) : [word],
  )
  const [before, word] = [words.slice(0, -1).map(unquoted), unquoted(words.at(-1) ?? '')]
  const called = <C extends { usage: string }>(list: readonly C[], name?: string) =>
    list.find(({ usage }) => usage.split(' ')[0] === name)
  const operands: string[] = []
  const flags: { databaseUrl?: string } = {}
  let option: string | undefined
  for (const one of before) {
    if (option !== undefined) {
      if (option === '--database-url') flags.databaseUrl = one
      option = undefined
    } else if (one.startsWith('--')) option = takesValue(one, commands) ? one : undefined
    else if (!/^-[a-z]/i.test(one)) operands.push(one)
  }
  const first = called(commands, operands.shift())
  const inGroup = first && 'commands' in first ? first : undefined
  const second = inGroup && called(inGroup.commands, operands[0])
  if (second) operands.shift()
  const command = first && 'load' in first ? first : (second ?? inGroup?.commands.find(({ isDefault }) => isDefault))
  return {
    word,
    operands,
    flags,
    ...(inGroup && !second ? { group: inGroup } : {}),
    ...(command ? { command } : {}),
    ...(option === undefined ? {} : { option }),
  }
}

/** Flags of resources, which are loaded late, all take one. */
function takesValue(flag: string, commands: readonly (CommandDeclaration | CommandGroup)[]): boolean {
  const all = commands
    .flatMap((one) => ('commands' in one ? one.commands : [one]))
    .flatMap(({ options = [] }) => options)
  const known = [...commonOptions, ...all].filter(({ long }) => long === flag)
  return flag !== '--help' && (known.length === 0 || known.some(({ required }) => required))
}

function unquoted(word: string): string {
  return word.replace(/^(["'])(.*?)\1?$/s, '$2').replace(/\\(.)/gs, '$1')
}
