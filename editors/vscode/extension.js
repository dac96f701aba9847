// The client of `bylaw lsp`: it starts the server and passes on what it says. All that is known of policies is there.
"use strict";
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function made() {
  const [command, ...args] = vscode.workspace.getConfiguration("bylaw").get("command");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const options = {
    documentSelector: ["policies", "context", "rules"].map((name) => ({
      scheme: "file",
      pattern: `**/${name}/**/*.{yaml,yml,json}`,
    })),
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/{policies,context,rules}/**") },
  };
  return new LanguageClient("bylaw", "bylaw", { command, args, options: { cwd: folder } }, options);
}

async function restart() {
  await client?.stop();
  client = made();
  await client.start();
}

exports.activate = async (context) => {
  context.subscriptions.push(vscode.commands.registerCommand("bylaw.restart", restart));
  await restart();
};
exports.deactivate = () => client?.stop();
