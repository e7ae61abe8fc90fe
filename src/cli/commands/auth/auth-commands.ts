import type { Command } from 'commander'
import { SCOPES } from '../../../api/auth/oauth.ts'
import { collect, command, concurrency, examples, type Run } from '../../options.ts'

const secretFlag =
  'of a private application; everybody on this machine can read a command line, WYNNSYNC_CLIENT_SECRET is safer'

/** `auth` and its commands. */
export function addAuth(program: Command, run: Run): void {
  const auth = program
    .command('auth')
    .description('manage API credentials')
    .addHelpText(
      'after',
      `
A token makes it 120 requests a minute instead of 50, and shows what its player lets the application see.
WYNNSYNC_TOKEN goes before a stored one. A stored one is sent only to the API that it was obtained from.
${examples(['wynnsync auth login --client-id <id>', 'wynnsync auth me'])}`,
    )

  command(auth, 'login', 'log in with the browser, and keep the token in a file of yours')
    .requiredOption('--client-id <id>', 'the application, registered on the website')
    .option('--client-secret <secret>', secretFlag)
    .option('--scope <scopes>', `what to ask for, with blanks between; may be given again (default: identify)`, collect)
    .option('--port <number>', 'port on 127.0.0.1 that the browser comes back to (default: any free one)')
    .option('--no-browser', 'print the address, open nothing')
    .addOption(concurrency())
    .addHelpText(
      'after',
      `
Scopes: ${SCOPES.join(', ')}
The application must allow the redirect to http://127.0.0.1:<port>/callback.
${examples([
  'wynnsync auth login --client-id <id> --scope "identify main_access" --port 8765',
  'ssh -L 8765:127.0.0.1:8765 server wynnsync auth login --client-id <id> --port 8765 --no-browser',
])}`,
    )
    .action(async (options, self: Command) => {
      const { authLogin } = await import('./auth-login.ts')
      await run(self, (context) => authLogin(options, context))
    })

  command(auth, 'exchange', 'turn a code that you have into a token, and keep that')
    .requiredOption('--code <code>', 'from the redirect; good once, for five minutes')
    .requiredOption('--client-id <id>', 'the application that it was given to')
    .requiredOption('--redirect-uri <url>', 'the address that it was sent to')
    .option('--client-secret <secret>', secretFlag)
    .option('--code-verifier <verifier>', 'of the code_challenge that the login page was given (PKCE)')
    .addOption(concurrency())
    .addHelpText(
      'after',
      examples([
        'wynnsync auth exchange --code <code> --client-id <id> --redirect-uri <url> --code-verifier <verifier>',
      ]),
    )
    .action(async (options, self: Command) => {
      const { authExchange } = await import('./auth-login.ts')
      await run(self, (context) => authExchange(options, context))
    })

  command(auth, 'whoami', 'the player of the credential')
    .addOption(concurrency())
    .addHelpText('after', examples(['wynnsync auth whoami']))
    .action(async (_options, self: Command) => {
      const { authWhoami } = await import('./auth.ts')
      await run(self, authWhoami)
    })

  command(auth, 'me', 'scopes, profiles and access rules of the credential, and its last use')
    .addOption(concurrency())
    .addHelpText('after', examples(['wynnsync auth me', 'wynnsync auth me --json | jq .scopes']))
    .action(async (_options, self: Command) => {
      const { authMe } = await import('./auth.ts')
      await run(self, authMe)
    })

  command(auth, 'logout', 'forget the stored token; it stays valid until it is revoked on the website')
    .addHelpText('after', examples(['wynnsync auth logout']))
    .action(async (_options, self: Command) => {
      const { authLogout } = await import('./auth.ts')
      await run(self, authLogout)
    })
}
