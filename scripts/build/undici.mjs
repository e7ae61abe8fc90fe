// The part of undici that the program uses. `undici/index.js` gives dispatchers their methods the same way.
import request from 'undici/lib/api/api-request.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'

Dispatcher.prototype.request = request

export { Agent }
