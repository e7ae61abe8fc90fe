import type { Option } from 'commander'
import { worklists } from '../../../resources/index.ts'
import { repeatable } from '../../options.ts'

/** A flag for each worklist: `--guild <name>`. */
export const keyFlags: readonly Option[] = worklists.map(({ keyFlag }) =>
  repeatable(`--${keyFlag} <name>`, `only this ${keyFlag}, by uuid or exact name; may be given again`),
)
