import { userInfo } from 'node:os'

/** What Debian gives users without a home folder; it never exists. */
export const NO_HOME = '/nonexistent'

// `homedir` throws for a user without HOME and without an entry in the list of users, as in many a container, and gives
// an empty HOME back: files would then be found only from the same working directory.
if (process.platform !== 'win32' && !process.env.HOME) process.env.HOME = homeOfUser()

function homeOfUser(): string {
  try {
    return userInfo().homedir || NO_HOME
  } catch {
    return NO_HOME
  }
}
