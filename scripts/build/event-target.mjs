// What the program uses of linkedom's class: nothing. Each node and attribute would register for events, and pictures, whose
// thousands of nodes never get one, would take twice as long to draw.
class DOMEventTarget {}

export { DOMEventTarget as EventTarget }
