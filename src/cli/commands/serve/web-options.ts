import { option } from '../../options.ts'

/** Flags of every command that serves over HTTP. */
export const webOptions = [
  option('--public', 'let other machines connect; says what they can read of people'),
  option('--no-people', 'leave out every answer about a single player'),
  option(
    '--rate-limit <requests>',
    'requests a minute and address, ten times as many with a key, 0 for no limit (default: 60)',
  ),
]
