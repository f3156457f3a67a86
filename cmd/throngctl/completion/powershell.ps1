# Completion of throngctl for PowerShell: throngctl completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'throngctl', 'throngctl.exe' -ScriptBlock {
	param($last, $line, $cursor)
	$program = $line.GetCommandName()
	$words = @('__complete', "--last=$last", '--') # an empty word would be lost on its way to a program
	$words += @($line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object {
		if ($_ -is [Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
	})
	& $program $words 2>$null | ForEach-Object {
		$value, $about = $_ -split "`t", 2
		$text = if ($value -match '[^\w=./:-]') { "'" + $value.Replace("'", "''") + "'" } else { $value }
		[Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $(if ($about) { $about } else { $value }))
	}
}
