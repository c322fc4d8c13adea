/** The file as a whole cannot be read. The message is for whoever sent it. */
export class Unreadable extends Error {}
