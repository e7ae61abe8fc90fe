import type { Option } from 'commander'
import { worklists } from '../../../resources/index.ts'
import { repeatable } from '../../options.ts'

/** A flag for each worklist: `--guild <name>`. */
export const keyFlags: readonly Option[] = worklists.map(({ keyFlag }) =>
  repeatable(`--${keyFlag} <name>`, `only this ${keyFlag}, by uuid or exact name; may be given again`),
)

/** The names that were given for a worklist. */
export function namesOf(flags: Readonly<Record<string, unknown>>, keyFlag: string): readonly string[] {
  const names = flags[keyFlag]
  return Array.isArray(names) ? names : []
}
